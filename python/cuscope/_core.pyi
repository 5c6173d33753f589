"""
The implementation of cuscope. It is private: import cuscope instead.
"""

from __future__ import annotations
import collections.abc
import cuscope._protocols
import numpy
import numpy.typing
import os
import types
import typing

__all__: list[str] = [
    "AccessPolicyWindow",
    "Capture",
    "Contract",
    "Counts",
    "CudaArray",
    "Device",
    "DeviceArray",
    "DeviceProperties",
    "Event",
    "ExternalSemaphore",
    "FaultDevice",
    "FunctionAttributes",
    "GlobalCounts",
    "Graph",
    "GraphExec",
    "GraphNode",
    "GraphUpdate",
    "Kernel",
    "KernelLaunch",
    "MemoryBarrier",
    "MemoryInfo",
    "MemoryPool",
    "MipmappedArray",
    "Module",
    "Parameter",
    "Pending",
    "PendingReason",
    "PendingWork",
    "PointerAttributes",
    "PoolStatistics",
    "Registration",
    "Stream",
    "Surface",
    "Texture",
    "WaitValue",
    "WriteValue",
    "add_host_device",
    "as_stream",
    "asarray",
    "build_config",
    "cache_description",
    "can_hold_result",
    "clock",
    "contract",
    "convert",
    "copy_batch",
    "current_device",
    "current_stream",
    "device_view",
    "devices",
    "empty",
    "empty_managed",
    "empty_pitched",
    "empty_plain",
    "exchange_capture_mode",
    "explain_matmul",
    "explain_reduce",
    "from_dlpack",
    "full",
    "host_work",
    "launch_dot",
    "launch_matmul",
    "launch_reduce",
    "live",
    "matmul_instances",
    "matmul_variants",
    "pending",
    "pinned_empty",
    "pointer_attributes",
    "predict_matmul",
    "predict_matmul_instance",
    "predict_reduction",
    "reduce_variants",
    "register",
    "runtime_answers",
    "set_device",
    "status_name",
    "status_text",
    "synchronize",
    "to_device",
    "usual_hint",
    "zeros",
]

class Device:
    """
    A device: a GPU ("cuda:0") or a simulated one ("host:0").

    ``with device:`` makes it the current device of this thread. Two Device objects are equal if they name the same device.

    Parameters
    ----------
    device : str or Device
        The name of a device that cuscope.devices() lists.

    Raises
    ------
    ValueError
        There is no such device. The message lists the names.

    See cudaSetDevice: CUDA C++ Programming Guide, "Multi-Device System".

    Examples
    --------
    >>> import cuscope as cs
    >>> cs.Device("host:0").simulated
    True
    >>> with cs.Device("host:0") as device:
    ...     device == cs.current_device()
    True
    """
    def __enter__(self) -> Device: ...
    def __eq__(self, arg0: typing.Any) -> bool: ...
    def __exit__(self, arg0: typing.Any, arg1: typing.Any, arg2: typing.Any) -> None: ...
    def __hash__(self) -> int: ...
    def __init__(self, device: str | Device) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Pickles the name. Loading it returns the device of this name.
        """
    def __repr__(self) -> str: ...
    def attribute(self, name: typing.SupportsInt | typing.SupportsIndex | str) -> int:
        """
        One attribute, by its name or by its number in cudaDeviceAttr.

        Raises ValueError for an unknown name (the message lists the names), CudaError (cudaErrorInvalidValue) for an unknown
        number. See cudaDeviceGetAttribute.

        >>> import cuscope as cs
        >>> cs.current_device().attribute("warp_size")
        32
        """
    def can_access_peer(self, other: Device) -> bool:
        """
        Can kernels on this device use the memory of the other one? A device is not a peer of itself.

        See cudaDeviceCanAccessPeer: CUDA C++ Programming Guide, "Peer-to-Peer Memory Access".

        >>> import cuscope as cs
        >>> device = cs.current_device()
        >>> device.can_access_peer(device)
        False
        """
    def disable_peer_access(self, other: Device) -> None:
        """
        Undo enable_peer_access().

        Raises CudaError (cudaErrorPeerAccessNotEnabled) if it was not enabled. See cudaDeviceDisablePeerAccess.
        """
    def enable_peer_access(self, other: Device) -> None:
        """
        Let kernels on this device use the memory of the other one: arrays of any kind, from all pools.

        Raises CudaError if the devices are no peers (cudaErrorPeerAccessUnsupported), or if access is already enabled
        (cudaErrorPeerAccessAlreadyEnabled). See cudaDeviceEnablePeerAccess: CUDA C++ Programming Guide, "Peer-to-Peer Memory
        Access".

        >>> import cuscope as cs
        >>> here, there = cs.Device("host:0"), cs.add_host_device("h200")
        >>> if here.can_access_peer(there):
        ...     here.enable_peer_access(there)
        ...     here.disable_peer_access(there)
        """
    def limit(self, name: str) -> int:
        """
        A limit, by its name. It is in bytes, or a count.

        In bytes: 'stack_size' of a thread, 'printf_fifo_size' and 'malloc_heap_size' for the output and the allocations of
        kernels, 'max_l2_fetch_granularity', 'persisting_l2_cache_size'. Counts: 'dev_runtime_sync_depth' and
        'dev_runtime_pending_launch_count'. Raises ValueError for another name, CudaError (cudaErrorUnsupportedLimit) for a
        limit that the device does not have. See cudaDeviceGetLimit: CUDA C++ Programming Guide, "Call Stack".

        >>> import cuscope as cs
        >>> cs.current_device().limit("stack_size") > 0
        True
        """
    def memory_info(self) -> MemoryInfo:
        """
        The free and the total memory, in bytes.

        When you drop an array, its memory counts as free once it was given back in stream order. See cudaMemGetInfo.

        >>> import cuscope as cs
        >>> info = cs.current_device().memory_info()
        >>> 0 < info.free <= info.total
        True
        """
    def reset(self) -> None:
        """
        Destroy everything on the device.

        You can only drop the objects that you made on it before (arrays, streams, events, modules): using them raises
        ValueError. A reset does not revive a device that an error has lost. See cudaDeviceReset: CUDA C++ Programming Guide,
        "Initialization".

        >>> import cuscope as cs
        >>> device = cs.add_host_device("h200")
        >>> with device:
        ...     array = cs.zeros(4)
        >>> device.reset()
        >>> array.to_host()
        Traceback (most recent call last):
        ...
        ValueError: DeviceArray was made before ...
        """
    def reset_persisting_l2_cache(self) -> None:
        """
        Reset all persisting lines of the second-level cache to normal: see AccessPolicyWindow.

        See cudaCtxResetPersistingL2Cache: CUDA C++ Programming Guide, "L2 Access Control".

        >>> import cuscope as cs
        >>> cs.current_device().reset_persisting_l2_cache()
        """
    def set_limit(self, name: str, value: typing.SupportsIndex) -> None:
        """
        Set a limit; the device may round it up. It applies to kernels that you launch from now on.

        Set 'printf_fifo_size' and 'malloc_heap_size' before you launch the first kernel that prints or allocates. Raises
        ValueError for another name or a negative value, CudaError for a value that the device cannot have, or that comes too
        late (cudaErrorInvalidValue). See cudaDeviceSetLimit: CUDA C++ Programming Guide, "Call Stack".

        >>> import cuscope as cs
        >>> device = cs.current_device()
        >>> device.set_limit("stack_size", device.limit("stack_size"))
        """
    def synchronize(self) -> None:
        """
        Wait until all work on the device is done.

        Raises the exceptions of host functions of all its streams, and errors of the work itself. Ctrl-C ends the wait. See
        cudaDeviceSynchronize: CUDA C++ Programming Guide, "Explicit Synchronization".

        >>> import cuscope as cs
        >>> cs.current_device().synchronize()
        """
    @property
    def compute_capability(self) -> tuple[int, int]:
        """
        The compute capability as (major, minor): it tells the features of the device.
        """
    @property
    def default_stream(self) -> Stream:
        """
        The legacy default stream (cudaStreamLegacy): its work and that of every blocking stream wait for
        each other. See CUDA C++ Programming Guide, "Default Stream".
        """
    @property
    def kind(self) -> str:
        """
        "cuda" for a GPU, "host" for a simulated device.
        """
    @property
    def memory_pool(self) -> MemoryPool:
        """
        The pool from which arrays on this device are allocated. Set it to None for the default one.

        See cudaDeviceGetMemPool, cudaDeviceSetMemPool.
        """
    @memory_pool.setter
    def memory_pool(self, arg1: typing.Any) -> None: ...
    @property
    def model(self) -> str:
        """
        The name of the model that it is, or that is simulated.
        """
    @property
    def name(self) -> str:
        """
        Its name: "cuda:0", "host:0".
        """
    @property
    def ordinal(self) -> int:
        """
        The number of the device among the devices of its kind.
        """
    @property
    def per_thread_stream(self) -> Stream:
        """
        The default stream that each thread has for itself (cudaStreamPerThread). See CUDA C++ Programming
        Guide, "Default Stream".
        """
    @property
    def properties(self) -> DeviceProperties:
        """
        The properties of the device. See cudaGetDeviceProperties.
        """
    @property
    def simulated(self) -> bool:
        """
        Is it a simulated device, with times from a model?
        """
    @property
    def stream_priority_range(self) -> tuple[int, int]:
        """
        The priorities as (least, greatest); the greatest is the smaller number. See cudaDeviceGetStreamPriorityRange.
        """

class Stream:
    """
    A queue of work for a device, which runs in the order in which you enqueue it.

    ``with stream:`` makes it the current stream of this thread, and its device the current device. Calls may return before
    the work that they enqueue is done; synchronize() waits for it.

    Parameters
    ----------
    priority : int
        Smaller numbers go first; clamped to device.stream_priority_range.
    non_blocking : bool
        Independent of the legacy default stream: neither waits for the other.
    device : Device, optional
        Default: the current device.

    See cudaStreamCreateWithPriority: CUDA C++ Programming Guide, "Streams", "Stream Priorities" and "Implicit
    Synchronization".

    Examples
    --------
    >>> import cuscope as cs
    >>> with cs.Stream() as stream:
    ...     x = cs.zeros(4)
    >>> stream.synchronize()
    >>> stream.query()
    True
    """
    def __enter__(self) -> Stream: ...
    def __eq__(self, arg0: typing.Any) -> bool: ...
    def __exit__(self, arg0: typing.Any, arg1: typing.Any, arg2: typing.Any) -> None: ...
    def __hash__(self) -> int: ...
    def __init__(
        self, *, priority: typing.SupportsIndex = 0, non_blocking: bool = False, device: Device | None = None
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Raises TypeError. The message says why it cannot be pickled, and an alternative.
        """
    def __repr__(self) -> str: ...
    def batch_mem_op(
        self, operations: collections.abc.Iterable[WriteValue | WaitValue | MemoryBarrier]
    ) -> None:
        """
        Enqueue fewer than 256 memory operations, done in order. Cheaper than one by one.

        Parameters
        ----------
        operations : list of WriteValue, WaitValue and MemoryBarrier
            The operations.

        Raises ValueError for operations of another device, and for too many operations. See cuStreamBatchMemOp: CUDA
        Driver API, "Stream Memory Operations".

        >>> import numpy as np, cuscope as cs
        >>> flags = cs.pinned_empty(2, np.uint32)
        >>> flags[:] = 0
        >>> stream = cs.Stream()
        >>> stream.batch_mem_op([cs.WriteValue(flags[0:1], 1), cs.WaitValue(flags[0:1], 1), cs.WriteValue(flags[1:2], 2)])
        >>> stream.synchronize()
        >>> flags.tolist()
        [1, 2]
        """
    def begin_capture(
        self,
        mode: str = "global",
        *,
        graph: typing.Any = None,
        after: GraphNode | collections.abc.Iterable[GraphNode] | None = None,
    ) -> None:
        """
        Begin to capture the stream; end_capture() returns the graph. capture() does both.

        See cudaStreamBeginCapture and cudaStreamBeginCaptureToGraph.

        >>> import cuscope as cs
        >>> stream = cs.Stream()
        >>> stream.begin_capture()
        >>> stream.capture_status
        'active'
        >>> stream.end_capture()
        <Graph of ...>
        """
    def capture(
        self,
        mode: str = "global",
        *,
        graph: typing.Any = None,
        after: GraphNode | collections.abc.Iterable[GraphNode] | None = None,
    ) -> Capture:
        """
        Turn the commands given to the stream into a graph: ``with stream.capture() as graph:``.

        Inside the block the stream is the current one, and no command given to it runs: kernels, copies, fills and host
        functions become nodes, each after the one before. Another stream joins the capture when it waits for a captured stream;
        let a captured stream wait for it in turn before the block ends. Memory that you allocate inside exists at once and is
        kept by the graph. You can use the graph after the block. If the block raises, the capture ends, and all streams are as
        before.

        Parameters
        ----------
        mode : str
            'global': while the capture lasts, no thread may make calls that are unsafe during a capture; 'thread_local': only
            this thread may not; 'relaxed': all threads may.
        graph : Graph, optional
            Add to this graph instead of making one.
        after : GraphNode or list of GraphNode, optional
            With ``graph``: the nodes that the first captured node waits for.

        Raises CaptureError for commands that cannot be captured: at the call, and at the end if a call invalidated the capture.
        See cudaStreamBeginCapture: CUDA C++ Programming Guide, "Creating a Graph Using Stream Capture".

        >>> import numpy as np, cuscope as cs
        >>> mod = cs.Module("__global__ void twice(int* x) { x[threadIdx.x] *= 2; }")
        >>> x, stream = cs.full(4, 1, np.int32), cs.Stream()
        >>> with stream.capture() as graph:
        ...     mod.twice[1, 4](x)
        ...     mod.twice[1, 4](x)
        >>> exe = graph.instantiate()
        >>> exe.launch(stream)
        >>> x.to_host(stream=stream)
        array([4, 4, 4, 4], dtype=int32)
        """
    def close(self) -> None:
        """
        Give up the stream; enqueued work still runs. Closing twice is no error.

        Raises ValueError for a default stream. See cudaStreamDestroy: CUDA C++ Programming Guide, "Creation and Destruction".

        >>> import cuscope as cs
        >>> stream = cs.Stream()
        >>> stream.close()
        >>> stream.closed
        True
        """
    def copy_attributes(self, source: Stream) -> None:
        """
        Take over the attributes of another stream of the same device.

        Raises ValueError for a stream of another device. See cudaStreamCopyAttributes.

        >>> import cuscope as cs
        >>> one, other = cs.Stream(), cs.Stream()
        >>> one.synchronization_policy = "spin"
        >>> other.copy_attributes(one)
        >>> other.synchronization_policy
        'spin'
        """
    def end_capture(self) -> Graph:
        """
        End the capture that you began in the stream; returns the graph.

        Raises CaptureError if a call invalidated the capture, or if a stream that joined was not waited for. All streams can be
        used again in either case. See cudaStreamEndCapture.

        >>> import cuscope as cs
        >>> stream = cs.Stream()
        >>> stream.begin_capture()
        >>> len(stream.end_capture().nodes)
        0
        """
    def free_async(self, array: DeviceArray) -> None:
        """
        Free the memory of an alloc node, in stream order; in a capture, add a node that frees it.

        Outside of captures, use it for memory that a launch allocated and no node freed. You need not free other memory.

        Raises ValueError for an array that is not in a graph's memory, or has only a part of it; CudaError for memory that is
        not allocated at that time. See cudaFreeAsync: CUDA C++ Programming Guide, "Graph Memory Nodes".

        >>> import cuscope as cs
        >>> stream, g = cs.Stream(), cs.Graph()
        >>> made, x = g.add_alloc(4)
        >>> exe = g.instantiate()
        >>> for i in range(2):
        ...     exe.launch(stream)
        ...     stream.free_async(x)
        """
    def host_function(
        self, callable: collections.abc.Callable[..., typing.Any], *args: typing.Any, **kwargs: typing.Any
    ) -> None:
        """
        Call a Python callable on the host, in stream order, on a thread of the runtime.

        The stream waits until it returns. Its exception is raised by the next synchronisation of the stream. It must
        not call the runtime (cudaErrorNotPermitted). It and its arguments are kept alive until it has run. See
        cudaLaunchHostFunc: CUDA C++ Programming Guide, the section on host functions.

        >>> import cuscope as cs
        >>> seen = []
        >>> stream = cs.Stream()
        >>> stream.host_function(seen.append, 1)
        >>> stream.synchronize()
        >>> seen
        [1]
        """
    def malloc_async(
        self,
        shape: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex],
        dtype: numpy.typing.DTypeLike = ...,
    ) -> DeviceArray:
        """
        In a capture: add a node that allocates memory when the graph runs; returns an array over the memory.

        Does what ``Graph.add_alloc`` does, after the commands given to the stream so far. (``cs.empty`` in a capture adds no
        node: its memory exists from then on.) Use the array in commands captured after this, until ``free_async``, and in the
        streams that you launch the graph in. A second launch before the memory is freed is refused, unless you instantiated the
        executable with ``auto_free_on_launch``.

        Raises ValueError for a stream that is not being captured, and for an array without elements. See cudaMallocAsync: CUDA
        C++ Programming Guide, "Graph Memory Nodes".

        >>> import cuscope as cs
        >>> stream, y = cs.Stream(), cs.zeros(4)
        >>> with stream.capture() as g:
        ...     x = stream.malloc_async(4)
        ...     _ = x.fill(2)
        ...     _ = y.copy_from(x)
        ...     stream.free_async(x)
        >>> [node.type for node in g.nodes]
        ['alloc', 'memset', 'copy', 'free']
        >>> exe = g.instantiate()
        >>> for i in range(3):
        ...     exe.launch(stream)
        >>> y.to_host(stream=stream)
        array([2., 2., 2., 2.], dtype=float32)
        """
    def query(self) -> bool:
        """
        Is everything in the stream done? Does not wait, and does not raise exceptions of host functions.

        See cudaStreamQuery: CUDA C++ Programming Guide, "Explicit Synchronization".

        >>> import cuscope as cs
        >>> cs.Stream().query()
        True
        """
    def record(self, event: Event | None = None) -> Event:
        """
        Record an event (default: a new one) after the work given to the stream so far; returns the event.

        Raises ValueError for an event of another device. See cudaEventRecord: CUDA C++ Programming Guide, "Events".

        >>> import cuscope as cs
        >>> stream = cs.Stream()
        >>> start, stop = stream.record(), stream.record()
        >>> stop.synchronize()
        >>> stop - start >= 0
        True
        """
    def signal_external(
        self,
        semaphores: ExternalSemaphore
        | tuple[ExternalSemaphore, typing.SupportsIndex]
        | collections.abc.Iterable[ExternalSemaphore | tuple[ExternalSemaphore, typing.SupportsIndex]],
    ) -> None:
        """
        Signal semaphores of another interface, in stream order.

        Parameters
        ----------
        semaphores : ExternalSemaphore, (ExternalSemaphore, int), or a list of these
            A timeline semaphore needs the value that it is set to.

        Raises ValueError for a missing or superfluous value. See cudaSignalExternalSemaphoresAsync: CUDA C++ Programming Guide,
        "External Resource Interoperability".

        >>> import os, cuscope as cs
        >>> with cs.Device("host:0"):
        ...     counter = os.memfd_create("counter")
        ...     os.truncate(counter, 8)
        ...     timeline, stream = cs.ExternalSemaphore(os.dup(counter), "timeline_semaphore_fd"), cs.Stream()
        ...     stream.signal_external((timeline, 7))
        ...     stream.synchronize()
        >>> int.from_bytes(os.pread(counter, 8, 0), "little")
        7
        >>> os.close(counter)
        """
    def synchronize(self) -> None:
        """
        Wait until everything in the stream is done.

        Raises exceptions of its host functions (one for each call, oldest first), and errors of the work itself.
        Ctrl-C ends the wait. See cudaStreamSynchronize: CUDA C++ Programming Guide, "Explicit Synchronization".

        >>> import cuscope as cs
        >>> cs.current_stream().synchronize()
        """
    def update_capture_dependencies(
        self, nodes: GraphNode | collections.abc.Iterable[GraphNode] | None, *, replace: bool = False
    ) -> None:
        """
        Let the next node captured in the stream wait for these nodes, too; with ``replace``, for these alone.

        Raises ValueError for nodes of another graph, or while the stream is not being captured. See
        cudaStreamUpdateCaptureDependencies.

        >>> import cuscope as cs
        >>> stream, x, y = cs.Stream(), cs.zeros(4), cs.zeros(4)
        >>> with stream.capture() as graph:
        ...     x.fill(1)
        ...     first = stream.capture_dependencies
        ...     stream.update_capture_dependencies([], replace=True)
        ...     y.fill(1)
        ...     stream.update_capture_dependencies(first)
        >>> len(graph.roots)
        2
        """
    def wait(self, what: Event | Stream | cuscope._protocols.CudaStream, *, external: bool = False) -> None:
        """
        Let the stream wait for an event, or for all work given to another stream so far.

        The calling thread does not wait. An event that was never recorded is not waited for. The event may belong to another
        device. A stream that waits for a captured stream, or for an event in one, joins the capture. Use ``external`` in a
        stream that is being captured: the wait becomes a node of the graph, which waits at each run for the event's latest
        record. See cudaStreamWaitEvent: CUDA C++ Programming Guide, "Explicit Synchronization".

        >>> import cuscope as cs
        >>> first, second = cs.Stream(), cs.Stream()
        >>> second.wait(first.record())
        >>> second.wait(first)
        """
    def wait_external(
        self,
        semaphores: ExternalSemaphore
        | tuple[ExternalSemaphore, typing.SupportsIndex]
        | collections.abc.Iterable[ExternalSemaphore | tuple[ExternalSemaphore, typing.SupportsIndex]],
    ) -> None:
        """
        Let the stream wait for semaphores of another interface: for a signal, or for the value of a timeline.

        The calling thread does not wait. If a semaphore is never signalled, the stream waits for ever. Takes the arguments of
        signal_external(). See cudaWaitExternalSemaphoresAsync: CUDA C++ Programming Guide, "External Resource Interoperability".

        >>> import os, cuscope as cs
        >>> with cs.Device("host:0"):
        ...     ours = os.eventfd(0)
        ...     semaphore, stream = cs.ExternalSemaphore(os.dup(ours)), cs.Stream()
        ...     stream.wait_external(semaphore)
        ...     os.eventfd_write(ours, 1)
        ...     stream.synchronize()
        >>> os.close(ours)
        """
    def wait_value(
        self,
        array: DeviceArray | numpy.typing.NDArray[typing.Any],
        value: typing.SupportsIndex,
        condition: str = "geq",
    ) -> None:
        """
        Let the stream wait until memory holds a number, which a stream, a kernel or the host writes.

        The calling thread does not wait. If the number is never written, the stream waits for ever, and so does every wait for
        the stream; Ctrl-C ends a wait of the host. CUDA does not know of this order. If the writer is a stream of the same
        device, use an event instead, which cannot deadlock.

        Parameters
        ----------
        array : DeviceArray or numpy.ndarray
            The same as for write_value().
        value : int
            A value of the array's dtype.
        condition : str
            'geq': wait until array - value, as a signed number, is at least 0 (so counters may wrap around); 'eq': until both
            are equal; 'and': until array & value is not 0; 'nor': until ~(array | value) is not 0.

        Raises ValueError for other arrays, numbers and conditions. See cuStreamWaitValue32 and cuStreamWaitValue64: CUDA Driver
        API, "Stream Memory Operations".

        >>> import numpy as np, cuscope as cs
        >>> flag = cs.pinned_empty(1, np.uint32)
        >>> flag[0] = 0
        >>> first, second = cs.Stream(), cs.Stream()
        >>> first.wait_value(flag, 1)
        >>> first.query()
        False
        >>> second.write_value(flag, 1)
        >>> first.synchronize()
        """
    def write_value(
        self, array: DeviceArray | numpy.typing.NDArray[typing.Any], value: typing.SupportsIndex
    ) -> None:
        """
        Write a number to memory in stream order: a flag for other streams, kernels or the host.

        When a reader sees the number, it also sees everything that the stream wrote before.

        Parameters
        ----------
        array : DeviceArray or numpy.ndarray
            One integer of 4 or 8 bytes: from cs.empty_plain(), in a module's variable, or in page-locked memory. Devices do not
            support these operations on memory from pools (where other arrays are) and on managed memory.
        value : int
            A value of the array's dtype.

        Raises ValueError for other arrays and numbers. See cuStreamWriteValue32 and cuStreamWriteValue64: CUDA Driver API,
        "Stream Memory Operations".

        >>> import numpy as np, cuscope as cs
        >>> flag = cs.pinned_empty(1, np.uint32)
        >>> stream = cs.Stream()
        >>> stream.write_value(flag, 7)
        >>> stream.synchronize()
        >>> flag.tolist()
        [7]
        """
    @property
    def __cuda_stream__(self) -> collections.abc.Callable[..., typing.Any]:
        """
        A method that returns (0, handle), with which other CUDA libraries use the stream. A simulated device's stream has no such attribute.
        """
    @property
    def access_policy_window(self) -> AccessPolicyWindow:
        """
        How the second-level cache treats a range of memory in its kernels: an AccessPolicyWindow, or None. See cudaStreamSetAttribute: CUDA C++ Programming Guide, "L2 Access Control".
        """
    @access_policy_window.setter
    def access_policy_window(self, arg1: AccessPolicyWindow | None) -> None: ...
    @property
    def capture_dependencies(self) -> list[GraphNode]:
        """
        The nodes that the next command captured in the stream will wait for; empty unless the stream is being captured.
        """
    @property
    def capture_id(self) -> int:
        """
        The runtime's number of the capture that the stream takes part in; 0 if there is none.
        """
    @property
    def capture_status(self) -> str:
        """
        'active' while it is being captured, 'invalidated' once a call has invalidated the capture, else 'none'.
        """
    @property
    def closed(self) -> bool:
        """
        Was the stream closed?
        """
    @property
    def device(self) -> Device:
        """
        The device that the stream belongs to.
        """
    @property
    def handle(self) -> int:
        """
        The cudaStream_t as an int: 1 and 2 for default streams, 0 for a closed one. The runtime reuses handles.
        """
    @property
    def id(self) -> int:
        """
        The runtime's number for the stream, never used twice.
        """
    @property
    def mem_sync_domain(self) -> str:
        """
        The memory synchronization domain of its kernels' fences: 'default' or 'remote'. See cudaStreamSetAttribute: CUDA C++ Programming Guide, "Memory Synchronization Domains".
        """
    @mem_sync_domain.setter
    def mem_sync_domain(self, arg1: str) -> None: ...
    @property
    def mem_sync_domain_map(self) -> tuple[int, int]:
        """
        The domains that 'default' and 'remote' stand for, as (default, remote). See cudaStreamSetAttribute: CUDA C++ Programming Guide, "Memory Synchronization Domains".
        """
    @mem_sync_domain_map.setter
    def mem_sync_domain_map(self, arg1: collections.abc.Sequence[typing.SupportsIndex] | None) -> None: ...
    @property
    def non_blocking(self) -> bool:
        """
        Is it independent of the legacy default stream?
        """
    @property
    def priority(self) -> int:
        """
        The priority: smaller numbers go first. A new value applies to launches from now on, and is clamped to device.stream_priority_range. See cudaStreamSetAttribute.
        """
    @priority.setter
    def priority(self, arg1: typing.SupportsIndex) -> None: ...
    @property
    def synchronization_policy(self) -> str:
        """
        How the host waits for the stream: 'auto', 'spin', 'yield' or 'blocking_sync'. See cudaStreamSetAttribute.
        """
    @synchronization_policy.setter
    def synchronization_policy(self, arg1: str) -> None: ...

class Event:
    """
    A point in a stream, to wait for and to measure times between.

    ``stop - start`` is the time between two events in milliseconds, as a float.

    Parameters
    ----------
    timing : bool
        Can the event measure times? Without, recording and waiting are cheaper.
    blocking_sync : bool
        Let synchronize() sleep instead of spin.
    device : Device, optional
        Default: the current device. Only streams of this device can record the event; streams of others can wait for it.

    See cudaEventCreateWithFlags: CUDA C++ Programming Guide, "Events" and "Elapsed Time".

    Examples
    --------
    >>> import cuscope as cs
    >>> start, stop = cs.Event(), cs.Event()
    >>> with cs.Stream():
    ...     start = start.record()
    ...     x = cs.zeros(1 << 20)
    ...     stop = stop.record()
    >>> stop.synchronize()
    >>> stop - start > 0
    True
    """
    def __init__(
        self, *, timing: bool = True, blocking_sync: bool = False, device: Device | None = None
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Raises TypeError. The message says why it cannot be pickled, and an alternative.
        """
    def __repr__(self) -> str: ...
    def __sub__(self, start: Event) -> float:
        """
        The milliseconds from another event to this one; negative if the other came later.

        Raises CudaError if one of the events has not happened (cudaErrorNotReady), was never recorded or has no timing
        (cudaErrorInvalidResourceHandle), ValueError if they belong to different devices. See cudaEventElapsedTime: CUDA C++
        Programming Guide, "Elapsed Time".

        >>> import cuscope as cs
        >>> start, stop = cs.Event().record(), cs.Event().record()
        >>> stop.synchronize()
        >>> stop - start >= 0, start - stop <= 0
        (True, True)
        """
    def close(self) -> None:
        """
        Give up the event. Closing twice is no error. See cudaEventDestroy.

        >>> import cuscope as cs
        >>> event = cs.Event()
        >>> event.close()
        >>> event.closed
        True
        """
    def query(self) -> bool:
        """
        Has the event happened? Does not wait. An event that was never recorded has happened. See cudaEventQuery.

        >>> import cuscope as cs
        >>> cs.Event().query()
        True
        """
    def record(
        self, stream: Stream | cuscope._protocols.CudaStream | None = None, *, external: bool = False
    ) -> Event:
        """
        Record the event after the work given to a stream so far; returns the event.

        Default: the current stream. Recording again moves the event. Raises ValueError for a stream of another device. In a
        stream that is being captured, the event marks a place in the graph: another stream joins the capture by waiting for it.
        With ``external`` it becomes a node, which records the event whenever the graph runs. See cudaEventRecord: CUDA C++
        Programming Guide, "Events".

        >>> import cuscope as cs
        >>> event = cs.Event().record()
        """
    def synchronize(self) -> None:
        """
        Wait until the event has happened.

        Raises exceptions of host functions in the event's stream, and errors of the work before the event. Ctrl-C
        ends the wait. See cudaEventSynchronize: CUDA C++ Programming Guide, "Explicit Synchronization".

        >>> import cuscope as cs
        >>> cs.Event().record().synchronize()
        """
    @property
    def closed(self) -> bool:
        """
        Was the event closed?
        """
    @property
    def device(self) -> Device:
        """
        The device that the event belongs to.
        """
    @property
    def handle(self) -> int:
        """
        The cudaEvent_t as an int; 0 for a closed event. The runtime reuses handles.
        """
    @property
    def timing(self) -> bool:
        """
        Can the event measure times?
        """

class DeviceArray:
    """
    An array in the memory of a device; made by empty(), zeros(), full() and to_device().

    Slices and transposes share its memory. A stream that uses the array waits for its allocation, but not for the work of
    other streams on it: order that with events. When you drop the last array that shares the memory, it is freed in
    stream order, after the other streams that used it have finished. Copies and fills run in the current stream unless
    you pass another one.

    See CUDA C++ Programming Guide, "Device Memory" and "Stream Ordered Memory Allocator".

    Examples
    --------
    >>> import numpy as np, cuscope as cs
    >>> x = cs.to_device(np.arange(6, dtype=np.int32).reshape(2, 3))
    >>> x.shape, x.dtype, x.nbytes
    ((2, 3), dtype('int32'), 24)
    >>> x[1].to_host()
    array([3, 4, 5], dtype=int32)
    """
    def __add__(self, other: typing.Any) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def __and__(self, other: typing.Any) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def __array__(self, *args: typing.Any, **kwargs: typing.Any) -> numpy.typing.NDArray[typing.Any]:
        """
        Refused: use to_host().
        """
    def __bool__(self) -> bool: ...
    def __complex__(self) -> bool: ...
    def __contains__(self, value: typing.Any) -> bool:
        """
        Raises TypeError. Use to_host(), which returns an array that can be searched.
        """
    def __dlpack__(
        self,
        stream: typing.Any = None,
        *,
        max_version: typing.Any = None,
        dl_device: typing.Any = None,
        copy: typing.Any = None,
    ) -> typing.Any:
        """
        A DLPack capsule of the array, without a copy unless you ask for one.

        Parameters
        ----------
        stream : int, optional
            The handle of the consumer's stream, which will wait for all uses of the array so far. None and 1 are the legacy
            default stream, 2 the per-thread one, -1 asks for no order.
        max_version : tuple of int, optional
            (1, 0) and later return a versioned capsule.
        dl_device : tuple of int, optional
            (1, 0) waits and returns the elements on the host: in a copy, unless the host can reach the memory.
        copy : bool, optional
            True: always copy; False: never copy.

        Raises BufferError for an array that cannot be exported in this way, ValueError for stream=0. See DLPack,
        "Python Specification".

        >>> import numpy as np, cuscope as cs
        >>> np.from_dlpack(cs.full(2, 1.5), device="cpu")
        array([1.5, 1.5])
        """
    def __dlpack_device__(self) -> tuple[int, ...]:
        """
        The kind of memory as DLPack's (type, id): 2 a GPU's, 3 page-locked, 13 managed, 12 a simulated device's.

        >>> import cuscope as cs
        >>> cs.empty(1, stream=cs.Stream(device=cs.Device("host:0"))).__dlpack_device__()
        (12, 0)
        """
    def __eq__(self, other: typing.Any) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def __float__(self) -> bool: ...
    def __floordiv__(self, other: typing.Any) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def __ge__(self, other: typing.Any) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def __getitem__(
        self,
        index: typing.SupportsIndex
        | slice
        | types.EllipsisType
        | None
        | tuple[typing.SupportsIndex | slice | types.EllipsisType | None, ...],
    ) -> DeviceArray:
        """
        A view of items or slices. It shares the memory of the array.

        Takes everything that NumPy's basic indexing takes: ints, slices with any step, ... and None. An item of an array with
        one axis is an array without axes.

        >>> import numpy as np, cuscope as cs
        >>> x = cs.zeros((3, 2))
        >>> x[1:] = 5
        >>> x[2] = np.array([1, 2], np.float32)
        >>> x.to_host().tolist()
        [[0.0, 0.0], [5.0, 5.0], [1.0, 2.0]]
        """
    def __gt__(self, other: typing.Any) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def __hash__(self) -> int: ...
    def __int__(self) -> bool: ...
    def __invert__(self) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def __iter__(self) -> collections.abc.Iterator[DeviceArray]: ...
    def __le__(self, other: typing.Any) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def __len__(self) -> int: ...
    def __lshift__(self, other: typing.Any) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def __lt__(self, other: typing.Any) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def __matmul__(self, other: typing.Any) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def __mod__(self, other: typing.Any) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def __mul__(self, other: typing.Any) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def __ne__(self, other: typing.Any) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def __neg__(self) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def __or__(self, other: typing.Any) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def __pos__(self) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def __pow__(self, other: typing.Any) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def __radd__(self, other: typing.Any) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def __rand__(self, other: typing.Any) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Raises TypeError. The message says why it cannot be pickled, and an alternative.
        """
    def __repr__(self) -> str: ...
    def __rfloordiv__(self, other: typing.Any) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def __rlshift__(self, other: typing.Any) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def __rmatmul__(self, other: typing.Any) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def __rmod__(self, other: typing.Any) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def __rmul__(self, other: typing.Any) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def __ror__(self, other: typing.Any) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def __rpow__(self, other: typing.Any) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def __rrshift__(self, other: typing.Any) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def __rshift__(self, other: typing.Any) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def __rsub__(self, other: typing.Any) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def __rtruediv__(self, other: typing.Any) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def __rxor__(self, other: typing.Any) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def __setitem__(
        self,
        index: typing.SupportsIndex
        | slice
        | types.EllipsisType
        | None
        | tuple[typing.SupportsIndex | slice | types.EllipsisType | None, ...],
        value: typing.Any,
    ) -> None:
        """
        Fill a view with a value, or copy an array of its shape and dtype into it, in the current stream.
        """
    def __sub__(self, other: typing.Any) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def __truediv__(self, other: typing.Any) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def __xor__(self, other: typing.Any) -> typing.Any:
        """
        Raises TypeError. Use to_host(), which returns an array that has operators.
        """
    def advise(self, advice: str, device: typing.Any = None) -> None:
        """
        Give the driver a hint how managed memory will be used.

        `advice` is 'read_mostly', 'preferred_location', 'accessed_by', or one of these after 'unset_'; `device` is a Device or
        'host'. Default: the array's own device. See cudaMemAdvise.

        >>> import cuscope as cs
        >>> x = cs.empty_managed(1000)
        >>> x.advise("read_mostly")
        >>> x.range_attributes["read_mostly"]
        True
        """
    def close(self) -> None:
        """
        Give up the memory. It is freed once no other array shares it and no stream uses it.

        Closing twice is no error. See cudaFreeAsync.

        >>> import cuscope as cs
        >>> x = cs.empty(3)
        >>> x.close()
        >>> x.closed
        True
        """
    def copy(self, *, stream: Stream | cuscope._protocols.CudaStream | None = None) -> DeviceArray:
        """
        A new C-contiguous array with the same elements, on the stream's device.

        >>> import numpy as np, cuscope as cs
        >>> cs.to_device(np.arange(4))[::-1].copy().to_host()
        array([3, 2, 1, 0])
        """
    def copy_from(
        self,
        source: DeviceArray
        | numpy.typing.ArrayLike
        | cuscope._protocols.CudaArray
        | cuscope._protocols.DLPackArray,
        *,
        stream: Stream | cuscope._protocols.CudaStream | None = None,
    ) -> None:
        """
        Copy from an array of the same shape and dtype, on the host or on a device.

        The copy is asynchronous from page-locked and device memory; you may change other host memory as soon as this returns.
        Lists and other objects are first converted to an array of this dtype. Raises ValueError for another shape, TypeError
        for another dtype. See cudaMemcpyAsync: CUDA C++ Programming Guide, "Overlap of Data Transfer and Kernel Execution".

        >>> import numpy as np, cuscope as cs
        >>> x = cs.empty(2, np.int64)
        >>> x.copy_from(np.array([1, 2]))
        >>> x.to_host()
        array([1, 2])
        """
    def copy_to(
        self,
        destination: DeviceArray
        | numpy.typing.ArrayLike
        | cuscope._protocols.CudaArray
        | cuscope._protocols.DLPackArray,
        *,
        stream: Stream | cuscope._protocols.CudaStream | None = None,
    ) -> None:
        """
        Copy to an array of the same shape and dtype, on the host or on a device.

        The copy is asynchronous to page-locked and device memory: the elements are there once you have synchronized the stream.
        Other host memory is filled when this returns, whatever its strides. Raises TypeError for another dtype, ValueError for
        another shape or a read-only array. See cudaMemcpyAsync: CUDA C++ Programming Guide, "Overlap of Data Transfer and
        Kernel Execution".

        >>> import numpy as np, cuscope as cs
        >>> y = np.empty(2, np.float32)
        >>> cs.full(2, 7.0, np.float32).copy_to(y)
        >>> y
        array([7., 7.], dtype=float32)
        """
    def fill(
        self, value: typing.Any, *, stream: Stream | cuscope._protocols.CudaStream | None = None
    ) -> None:
        """
        Set every element to one value, in stream order.

        Raises TypeError for a value of the wrong type, OverflowError for one that is too large for the dtype. See
        cudaMemsetAsync.

        >>> import numpy as np, cuscope as cs
        >>> x = cs.empty(3, np.int16)
        >>> x.fill(-5)
        >>> x.to_host()
        array([-5, -5, -5], dtype=int16)
        """
    def host_view(self) -> numpy.typing.NDArray[typing.Any]:
        """
        A NumPy array over the same memory, if the host can reach it: managed memory, and device_view().

        Before you read it, wait for the streams that write it. Raises TypeError for other memory.

        >>> import cuscope as cs
        >>> x = cs.empty_managed(2)
        >>> x.host_view()[:] = 1
        >>> x.to_host()
        array([1., 1.], dtype=float32)
        """
    def prefetch(
        self, to: typing.Any = None, *, stream: Stream | cuscope._protocols.CudaStream | None = None
    ) -> None:
        """
        Migrate the pages of managed memory to a Device, or to the 'host', in stream order. Default: its own device.

        See cudaMemPrefetchAsync.

        >>> import cuscope as cs
        >>> x = cs.empty_managed(1000)
        >>> x.prefetch()
        >>> x.range_attributes["last_prefetch_location"] == x.device.name
        True
        """
    def ravel(self) -> DeviceArray:
        """
        All elements along one axis. The same as reshape(-1).
        """
    def reshape(
        self, *args: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex]
    ) -> DeviceArray:
        """
        The same elements in C order, in another shape. One extent may be -1: it is computed.

        Returns a view where that is possible, as for every contiguous array; else a copy, made in the current stream. Raises
        ValueError if the sizes differ.

        >>> import cuscope as cs
        >>> cs.empty(6).reshape(2, -1).shape
        (2, 3)
        """
    def to_host(
        self, *, out: typing.Any = None, stream: Stream | cuscope._protocols.CudaStream | None = None
    ) -> numpy.typing.NDArray[typing.Any]:
        """
        Copy to a NumPy array. Waits for the stream, and raises exceptions of its host functions.

        Returns a new C-contiguous array with the shape and dtype of this one, or `out` if you pass it: an array of the same
        shape and dtype, with any strides. Ctrl-C ends the wait. See cudaMemcpyAsync: CUDA C++ Programming Guide, "Device
        Memory".

        >>> import cuscope as cs
        >>> cs.zeros(3).to_host()
        array([0., 0., 0.], dtype=float32)
        """
    def transpose(
        self, *args: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex]
    ) -> DeviceArray:
        """
        A view with the axes in another order; in reverse order if you give none.

        >>> import cuscope as cs
        >>> cs.empty((2, 3, 4)).transpose(1, 0, 2).shape
        (3, 2, 4)
        """
    @property
    def T(self) -> DeviceArray:
        """
        A view with the axes in reverse order.
        """
    @property
    def __array_interface__(self) -> typing.Any:
        """
        The array for NumPy, if the host can reach its memory. Waits for all uses of the array. Other arrays have no such attribute.
        """
    @property
    def __cuda_array_interface__(self) -> dict[str, typing.Any]:
        """
        The array for other CUDA libraries, version 3. An array on a simulated device has no such attribute. The stream in it waits for all uses of the array up to the time when you read the attribute.
        """
    @property
    def closed(self) -> bool:
        """
        Was the array closed?
        """
    @property
    def device(self) -> Device:
        """
        The device that the memory is on.
        """
    @property
    def dtype(self) -> numpy.dtype[typing.Any]:
        """
        The NumPy dtype of the elements.
        """
    @property
    def is_contiguous(self) -> bool:
        """
        Are the elements contiguous in C order?
        """
    @property
    def itemsize(self) -> int:
        """
        The size of one element in bytes.
        """
    @property
    def nbytes(self) -> int:
        """
        The size of all elements in bytes.
        """
    @property
    def ndim(self) -> int:
        """
        The number of axes.
        """
    @property
    def pitch(self) -> int:
        """
        The bytes from one row to the next.
        """
    @property
    def pointer(self) -> int:
        """
        The device address of the first element; 0 if the array is empty or closed.
        """
    @property
    def range_attributes(self) -> dict[str, typing.Any]:
        """
        The advice and prefetches for managed memory, as a dict. See cudaMemRangeGetAttribute.
        """
    @property
    def read_only(self) -> bool:
        """
        Is writing forbidden? Only arrays of other libraries can be read-only.
        """
    @property
    def shape(self) -> tuple[int, ...]:
        """
        The extent of each axis.
        """
    @property
    def size(self) -> int:
        """
        The number of elements.
        """
    @property
    def stream(self) -> Stream | None:
        """
        The stream that orders the memory's allocation and its release; None if the array is closed.
        """
    @property
    def strides(self) -> tuple[int, ...]:
        """
        The bytes from one element to the next along each axis.
        """

class DeviceProperties:
    """
    The properties of a device: the fields of cudaDeviceProp.

    You get it from Device.properties. Sizes are in bytes, clock rates in kHz, bus widths in bits; ``max_block_dim`` and
    ``max_grid_dim`` are (x, y, z). Device.attribute() has further values.

    See cudaGetDeviceProperties: CUDA C++ Programming Guide, "Device Enumeration".

    Examples
    --------
    >>> import cuscope as cs
    >>> properties = cs.Device("host:0").properties
    >>> properties.warp_size, properties.max_threads_per_block
    (32, 1024)
    """
    def __copy__(self) -> typing.Any:
        """
        Returns the object itself, because it never changes.
        """
    def __deepcopy__(self, memo: typing.Any) -> typing.Any:
        """
        Returns the object itself, because it never changes.
        """
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Raises TypeError. The message says why it cannot be pickled, and an alternative.
        """
    def __repr__(self) -> str: ...
    @property
    def async_engine_count(self) -> int:
        """
        The number of copy engines that can work while kernels run.
        """
    @property
    def can_map_host_memory(self) -> bool:
        """
        Can kernels use page-locked memory of the host (pinned_empty(mapped=True))?
        """
    @property
    def clock_rate(self) -> int:
        """
        The peak clock of the multiprocessors, in kHz.
        """
    @property
    def compute_capability_major(self) -> int:
        """
        The compute capability before the point.
        """
    @property
    def compute_capability_minor(self) -> int:
        """
        The compute capability after the point.
        """
    @property
    def concurrent_kernels(self) -> bool:
        """
        Can several kernels run at the same time?
        """
    @property
    def concurrent_managed_access(self) -> bool:
        """
        Can the host and kernels use managed memory at the same time?
        """
    @property
    def cooperative_launch(self) -> bool:
        """
        Does the device support cooperative kernels, in which all blocks can wait for each other?
        """
    @property
    def host_register_read_only_supported(self) -> bool:
        """
        Can existing memory of the host be page-locked for reading only?
        """
    @property
    def host_register_supported(self) -> bool:
        """
        Can existing memory of the host be page-locked?
        """
    @property
    def integrated(self) -> bool:
        """
        Does the device share the host's memory?
        """
    @property
    def l2_cache_size(self) -> int:
        """
        The size of the second-level cache, in bytes.
        """
    @property
    def managed_memory(self) -> bool:
        """
        Does the device support managed memory?
        """
    @property
    def max_block_dim(self) -> tuple[int, int, int]:
        """
        The most threads of a block along (x, y, z).
        """
    @property
    def max_blocks_per_multiprocessor(self) -> int:
        """
        The most blocks that a multiprocessor holds at once.
        """
    @property
    def max_grid_dim(self) -> tuple[int, int, int]:
        """
        The most blocks of a grid along (x, y, z).
        """
    @property
    def max_threads_per_block(self) -> int:
        """
        The most threads in a block.
        """
    @property
    def max_threads_per_multiprocessor(self) -> int:
        """
        The most threads that a multiprocessor holds at once.
        """
    @property
    def memory_bus_width(self) -> int:
        """
        The width of the memory bus, in bits.
        """
    @property
    def memory_clock_rate(self) -> int:
        """
        The peak clock of the memory, in kHz.
        """
    @property
    def memory_pitch(self) -> int:
        """
        The largest pitch of a two-dimensional copy, in bytes.
        """
    @property
    def memory_pools_supported(self) -> bool:
        """
        Can memory be allocated in stream order, from pools?
        """
    @property
    def multiprocessor_count(self) -> int:
        """
        The number of multiprocessors.
        """
    @property
    def name(self) -> str:
        """
        The name of the model.
        """
    @property
    def pageable_memory_access(self) -> bool:
        """
        Can kernels use the host's pageable memory?
        """
    @property
    def registers_per_block(self) -> int:
        """
        The 32-bit registers that a block may have.
        """
    @property
    def registers_per_multiprocessor(self) -> int:
        """
        The 32-bit registers of a multiprocessor.
        """
    @property
    def shared_memory_per_block(self) -> int:
        """
        The shared memory that a block may have by default, in bytes.
        """
    @property
    def shared_memory_per_block_optin(self) -> int:
        """
        The shared memory that a block may have if its kernel opts in (Kernel.max_dynamic_shared), in bytes.
        """
    @property
    def shared_memory_per_multiprocessor(self) -> int:
        """
        The shared memory of a multiprocessor, in bytes.
        """
    @property
    def stream_priorities_supported(self) -> bool:
        """
        Does the device support stream priorities?
        """
    @property
    def texture_alignment(self) -> int:
        """
        The alignment of textures, in bytes.
        """
    @property
    def texture_pitch_alignment(self) -> int:
        """
        The alignment of the pitch of two-dimensional textures, in bytes.
        """
    @property
    def total_constant_memory(self) -> int:
        """
        The memory for __constant__ variables, in bytes.
        """
    @property
    def total_global_memory(self) -> int:
        """
        The memory of the device, in bytes.
        """
    @property
    def unified_addressing(self) -> bool:
        """
        Do the host and the device share one address space?
        """
    @property
    def warp_size(self) -> int:
        """
        The number of threads in a warp.
        """

class MemoryInfo:
    """
    The memory of a device, in bytes; unpacks as (free, total).

    You get it from Device.memory_info(). See cudaMemGetInfo.

    >>> import cuscope as cs
    >>> free, total = cs.Device("host:0").memory_info()
    >>> free <= total
    True
    """
    def __copy__(self) -> typing.Any:
        """
        Returns the object itself, because it never changes.
        """
    def __deepcopy__(self, memo: typing.Any) -> typing.Any:
        """
        Returns the object itself, because it never changes.
        """
    def __iter__(self) -> collections.abc.Iterator[int]: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Raises TypeError. The message says why it cannot be pickled, and an alternative.
        """
    def __repr__(self) -> str: ...
    @property
    def free(self) -> int:
        """
        The memory that can still be allocated, in bytes.
        """
    @property
    def total(self) -> int:
        """
        The memory of the device, in bytes.
        """

class AccessPolicyWindow:
    """
    A range of device memory for which the second-level cache follows a policy of its own.

    Use it for kernels launched with ``access_policy_window=``, or for a stream. A simulated device checks the values and
    otherwise ignores them.

    Parameters
    ----------
    array : DeviceArray or int
        The memory: an array, or an address, which needs ``nbytes``.
    nbytes : int, optional
        The size in bytes. Default: the whole array. At most device.attribute(109).
    hit_ratio : float
        The share of the window's accesses that are hits, 0 to 1.
    hit : str
        The policy for hits: 'normal', 'streaming' or 'persisting'.
    miss : str
        The policy for the other accesses: 'normal' or 'streaming'.

    Raises TypeError and ValueError for other values. See cudaAccessPolicyWindow: CUDA C++ Programming Guide, "L2 Access
    Control".

    Examples
    --------
    >>> import cuscope as cs
    >>> x = cs.zeros(1024)
    >>> window = cs.AccessPolicyWindow(x, hit_ratio=0.5)
    >>> window.nbytes, window.hit, window.miss
    (4096, 'persisting', 'streaming')
    """
    def __init__(
        self,
        array: typing.Any,
        nbytes: typing.SupportsIndex | None = None,
        *,
        hit_ratio: typing.SupportsFloat | typing.SupportsIndex = 1.0,
        hit: str = "persisting",
        miss: str = "streaming",
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Raises TypeError. The message says why it cannot be pickled, and an alternative.
        """
    def __repr__(self) -> str: ...
    @property
    def base(self) -> int:
        """
        The first address of the window.
        """
    @property
    def hit(self) -> str:
        """
        The policy for hits.
        """
    @property
    def hit_ratio(self) -> float:
        """
        The share of its accesses that are hits.
        """
    @property
    def miss(self) -> str:
        """
        The policy for the other accesses.
        """
    @property
    def nbytes(self) -> int:
        """
        The size in bytes.
        """

class PointerAttributes:
    """
    The attributes of an address; made by pointer_attributes().

    See cudaPointerGetAttributes.

    >>> import cuscope as cs
    >>> x = cs.empty(3)
    >>> cs.pointer_attributes(x).device_pointer == x.pointer
    True
    """
    def __copy__(self) -> typing.Any:
        """
        Returns the object itself, because it never changes.
        """
    def __deepcopy__(self, memo: typing.Any) -> typing.Any:
        """
        Returns the object itself, because it never changes.
        """
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Raises TypeError. The message says why it cannot be pickled, and an alternative.
        """
    def __repr__(self) -> str: ...
    @property
    def device(self) -> str | None:
        """
        The name of the memory's device; None if it has none.
        """
    @property
    def device_pointer(self) -> int:
        """
        The address for kernels of the device that was asked; 0 if they cannot access it, such as memory of a peer without Device.enable_peer_access().
        """
    @property
    def host_pointer(self) -> int:
        """
        The address for the host; 0 if the host cannot access it.
        """
    @property
    def type(self) -> str:
        """
        'unregistered', 'host', 'device' or 'managed'.
        """

class Registration:
    """
    Page-locked memory of a NumPy array; made by register().

    The memory is unlocked when you close this object, at the end of a `with` block, or when you drop it and its
    copies have ended.

    >>> import numpy as np, cuscope as cs
    >>> registration = cs.register(np.zeros(4))
    >>> registration.close()
    >>> registration.closed
    True
    """
    def __enter__(self) -> typing.Any: ...
    def __exit__(self, *args: typing.Any) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Raises TypeError. The message says why it cannot be pickled, and an alternative.
        """
    def __repr__(self) -> str: ...
    def close(self) -> None:
        """
        Wait for the device, and unlock the memory. Ctrl-C ends the wait; the memory stays locked. Closing twice is no error. See cudaHostUnregister.
        """
    def device_view(self) -> DeviceArray:
        """
        The memory as a device array, for kernels. See device_view().
        """
    @property
    def array(self) -> numpy.typing.NDArray[typing.Any]:
        """
        The array that is page-locked.
        """
    @property
    def closed(self) -> bool:
        """
        Was the registration closed?
        """

class PoolStatistics:
    """
    The memory that a pool holds, in bytes; made by MemoryPool.statistics.

    See cudaMemPoolGetAttribute.

    >>> import cuscope as cs
    >>> statistics = cs.MemoryPool().statistics
    >>> statistics.used, statistics.reserved
    (0, 0)
    """
    def __copy__(self) -> typing.Any:
        """
        Returns the object itself, because it never changes.
        """
    def __deepcopy__(self, memo: typing.Any) -> typing.Any:
        """
        Returns the object itself, because it never changes.
        """
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Raises TypeError. The message says why it cannot be pickled, and an alternative.
        """
    def __repr__(self) -> str: ...
    @property
    def reserved(self) -> int:
        """
        The bytes that the pool has reserved from the device.
        """
    @property
    def reserved_high(self) -> int:
        """
        The highest value of ``reserved``.
        """
    @property
    def used(self) -> int:
        """
        The bytes that arrays use.
        """
    @property
    def used_high(self) -> int:
        """
        The highest value of ``used``.
        """

class MemoryPool:
    """
    A pool of device memory, from which arrays are allocated in stream order.

    Arrays come from their device's current pool, `device.memory_pool`. The memory that they give back stays in the pool for
    later arrays, until a synchronisation finds more than `release_threshold` bytes reserved.

    Parameters
    ----------
    limit : int, optional
        The most bytes that it may reserve. Default: the memory of the device.
    release_threshold : int
        The bytes that it keeps when the host synchronizes.
    device : Device, optional
        Default: the current device.

    See cudaMemPoolCreate: CUDA C++ Programming Guide, "Stream Ordered Memory Allocator".

    Examples
    --------
    >>> import cuscope as cs
    >>> pool = cs.MemoryPool(limit=64 << 20)
    >>> x = pool.empty(1000)
    >>> pool.statistics.used >= x.nbytes
    True
    """
    def __eq__(self, arg0: typing.Any) -> bool: ...
    def __hash__(self) -> int: ...
    def __init__(
        self,
        *,
        limit: typing.Any = None,
        release_threshold: typing.SupportsIndex = 0,
        device: Device | None = None,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Raises TypeError. The message says why it cannot be pickled, and an alternative.
        """
    def __repr__(self) -> str: ...
    def close(self) -> None:
        """
        Give up the pool. It is destroyed with its last array. Closing twice is no error. See cudaMemPoolDestroy.
        """
    def empty(
        self,
        shape: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex],
        dtype: numpy.typing.DTypeLike | None = None,
        *,
        stream: Stream | cuscope._protocols.CudaStream | None = None,
    ) -> DeviceArray:
        """
        A new array from this pool. Its elements are not initialised. The default dtype is float32.

        Raises OutOfMemoryError above the pool's limit. See cudaMallocFromPoolAsync.

        >>> import cuscope as cs
        >>> cs.MemoryPool().empty((2, 3)).shape
        (2, 3)
        """
    def reset_high(self) -> None:
        """
        Reset the highest values to the current ones. See cudaMemPoolSetAttribute.
        """
    def trim(self, keep: typing.SupportsIndex = 0) -> None:
        """
        Give unused memory back to the device, until at most `keep` bytes are reserved.

        See cudaMemPoolTrimTo.

        >>> import cuscope as cs
        >>> cs.current_device().memory_pool.trim()
        """
    @property
    def closed(self) -> bool:
        """
        Was the pool closed?
        """
    @property
    def device(self) -> Device:
        """
        The device that its memory is on.
        """
    @property
    def is_default(self) -> bool:
        """
        Is it the device's own pool, which cannot be destroyed?
        """
    @property
    def limit(self) -> int | None:
        """
        The most bytes it may reserve; None if only the device limits it.
        """
    @property
    def release_threshold(self) -> int:
        """
        The bytes that the pool keeps when the host synchronizes.
        """
    @release_threshold.setter
    def release_threshold(self, arg1: typing.SupportsIndex) -> None: ...
    @property
    def statistics(self) -> PoolStatistics:
        """
        The memory that it holds, as PoolStatistics.
        """

class CudaArray:
    """
    An opaque array for textures and surfaces, of 1 to 3 axes.

    Its elements have no address: you copy them in and out, and kernels read them through a Texture and write them through a
    Surface.

    Parameters
    ----------
    shape : int or tuple of int
        (width,), (height, width) or (depth, height, width), as for NumPy arrays; for a layered array (layers, width) or
        (layers, height, width), for a cubemap (6, size, size), for a layered cubemap (6 * layers, size, size).
    dtype : dtype
        The type of a channel: integers of 8, 16 or 32 bits, floats of 16 or 32.
    channels : int
        1, 2 or 4. More than 1 are the last axis of the arrays that you copy.
    layered : bool
        Make layers of one or two axes, which kernels choose by number: tex1DLayered(), tex2DLayered(). See cudaArrayLayered.
    cubemap : bool
        Make six square faces, +x, -x, +y, -y, +z, -z, which kernels choose by a direction: texCubemap(), or
        texCubemapLayered() with ``layered``. See cudaArrayCubemap.
    surface : bool
        Allow surfaces of it.
    gather : bool
        Allow tex2Dgather() to read it.
    device : Device, optional
        Default: the current device.

    See cudaMallocArray, cudaMalloc3DArray: CUDA C++ Programming Guide, "CUDA Arrays".

    Examples
    --------
    >>> import numpy as np, cuscope as cs
    >>> a = cs.CudaArray((2, 3), np.int32)
    >>> a.copy_from(np.arange(6, dtype=np.int32).reshape(2, 3))
    >>> a.to_host()
    array([[0, 1, 2],
           [3, 4, 5]], dtype=int32)
    """
    def __init__(
        self,
        shape: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex],
        dtype: numpy.typing.DTypeLike | None = None,
        *,
        channels: typing.SupportsInt | typing.SupportsIndex = 1,
        layered: bool = False,
        cubemap: bool = False,
        surface: bool = False,
        gather: bool = False,
        device: Device | None = None,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Raises TypeError. The message says why it cannot be pickled, and an alternative.
        """
    def __repr__(self) -> str: ...
    def close(self) -> None:
        """
        Give up the array. It is freed once nothing uses it. Closing twice is no error. See cudaFreeArray.
        """
    def copy_from(
        self,
        source: DeviceArray
        | numpy.typing.ArrayLike
        | cuscope._protocols.CudaArray
        | cuscope._protocols.DLPackArray,
        *,
        stream: Stream | cuscope._protocols.CudaStream | None = None,
    ) -> None:
        """
        Copy all elements from an array of the same shape and dtype, on the host or on the device. See cudaMemcpy3DAsync.
        """
    def copy_to(
        self, destination: typing.Any, *, stream: Stream | cuscope._protocols.CudaStream | None = None
    ) -> None:
        """
        Copy all elements to a DeviceArray of the same shape and dtype. See cudaMemcpy3DAsync.
        """
    def to_host(
        self, *, stream: Stream | cuscope._protocols.CudaStream | None = None
    ) -> numpy.typing.NDArray[typing.Any]:
        """
        Copy all elements to a new NumPy array, and wait for it. See cudaMemcpy3DAsync.
        """
    @property
    def channels(self) -> int:
        """
        The number of channels of an element.
        """
    @property
    def closed(self) -> bool:
        """
        Was the array closed?
        """
    @property
    def cubemap(self) -> bool:
        """
        Does it have faces that kernels choose by a direction?
        """
    @property
    def device(self) -> Device:
        """
        The device that its memory is on.
        """
    @property
    def dtype(self) -> numpy.dtype[typing.Any]:
        """
        The NumPy dtype of a channel.
        """
    @property
    def layered(self) -> bool:
        """
        Does it have layers that kernels choose by number?
        """
    @property
    def shape(self) -> tuple[int, ...]:
        """
        The extents in elements: depth, height, width. The number of layers or faces comes first.
        """
    @property
    def surface(self) -> bool:
        """
        Are surfaces of it allowed?
        """

class MipmappedArray:
    """
    An array in several sizes (levels), for textures that choose between them.

    Level 0 has the shape that you pass. Each further level has half as many elements along every axis of coordinates,
    rounded down, but at least 1. Kernels read a Texture of it with tex2DLod(), tex2DGrad() and their like; tex2D() reads
    level 0. You fill every level yourself: the smaller levels are not computed from the larger ones.

    Parameters
    ----------
    shape : int or tuple of int
        The shape of level 0, as for a CudaArray.
    dtype : dtype
        The type of a channel: integers of 8, 16 or 32 bits, floats of 16 or 32.
    levels : int, optional
        The number of levels. Default: as many as lead to one element.
    channels : int
        1, 2 or 4. More than 1 are the last axis of the arrays that you copy.
    layered, cubemap : bool
        As for a CudaArray. All levels have the same number of layers and faces.
    surface : bool
        Allow surfaces of its levels.
    device : Device, optional
        Default: the current device.

    See cudaMallocMipmappedArray: CUDA C++ Programming Guide, "Texture Memory".

    Examples
    --------
    >>> import numpy as np, cuscope as cs
    >>> a = cs.MipmappedArray((4, 4))
    >>> a.levels
    3
    >>> for i in range(a.levels):
    ...     a.level(i).copy_from(np.full(a.level(i).shape, i, np.float32))
    >>> mod = cs.Module('''__global__ void read(cudaTextureObject_t t, float* x) {
    ...     *x = tex2DLod<float>(t, 0.5f, 0.5f, 1.25f); }''')
    >>> x = cs.empty(1)
    >>> mod.read[1, 1](cs.Texture(a, normalized_coordinates=True, mipmap_filter="linear"), x)
    >>> x.to_host()
    array([1.25], dtype=float32)
    """
    def __init__(
        self,
        shape: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex],
        dtype: numpy.typing.DTypeLike | None = None,
        *,
        levels: typing.SupportsInt | typing.SupportsIndex | None = None,
        channels: typing.SupportsInt | typing.SupportsIndex = 1,
        layered: bool = False,
        cubemap: bool = False,
        surface: bool = False,
        device: Device | None = None,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Raises TypeError. The message says why it cannot be pickled, and an alternative.
        """
    def __repr__(self) -> str: ...
    def close(self) -> None:
        """
        Give up the array. It is freed once nothing uses it or its levels. Closing twice is no error. See cudaFreeMipmappedArray.
        """
    def level(self, index: typing.SupportsInt | typing.SupportsIndex) -> CudaArray:
        """
        One level as a CudaArray, for copies, surfaces and textures. It keeps the whole array alive. See cudaGetMipmappedArrayLevel.
        """
    @property
    def channels(self) -> int:
        """
        The number of channels of an element.
        """
    @property
    def closed(self) -> bool:
        """
        Was the array closed?
        """
    @property
    def cubemap(self) -> bool:
        """
        Does it have faces that kernels choose by a direction?
        """
    @property
    def device(self) -> Device:
        """
        The device that its memory is on.
        """
    @property
    def dtype(self) -> numpy.dtype[typing.Any]:
        """
        The NumPy dtype of a channel.
        """
    @property
    def layered(self) -> bool:
        """
        Does it have layers that kernels choose by number?
        """
    @property
    def levels(self) -> int:
        """
        The number of levels.
        """
    @property
    def shape(self) -> tuple[int, ...]:
        """
        The extents of level 0 in elements: depth, height, width. The number of layers or faces comes first.
        """
    @property
    def surface(self) -> bool:
        """
        Are surfaces of its levels allowed?
        """

class Texture:
    """
    A texture object, through which kernels read an array by tex1D(), tex2D(), tex3D(), tex1Dfetch() and their like.

    Pass it to a parameter of type cudaTextureObject_t.

    Parameters
    ----------
    source : CudaArray, MipmappedArray or DeviceArray
        Device memory is read as one axis (tex1Dfetch) or as two axes; in the latter case its rows must be contiguous and
        `pitch` bytes apart.
    channels : int, optional
        For device memory: the channels along the last axis, 1 (the default), 2 or 4.
    filter : str
        'point', or 'linear' to interpolate between neighbouring elements (floats and normalized reads only).
    address : str or tuple of str
        How coordinates outside of the array are read, for each axis, x first: 'clamp', 'border', and with normalized
        coordinates 'wrap' and 'mirror'.
    normalized_coordinates : bool
        Coordinates go from 0 to 1, not to the extent. Ignored for a cubemap, which is read by a direction.
    normalized_reads : bool
        Integers of 8 and 16 bits are read as floats from 0 or -1 to 1.
    border : number or tuple of numbers
        The value that 'border' reads outside; a tuple has one for each channel.
    srgb : bool
        Normalized 8-bit reads are converted from sRGB to linear values.
    mipmap_filter : str
        For a MipmappedArray: 'point' reads the nearest level, 'linear' interpolates between two.
    mipmap_level_bias : float
        For a MipmappedArray: added to the level that a kernel requests.
    min_mipmap_level_clamp, max_mipmap_level_clamp : float
        For a MipmappedArray: the range of levels that are read. Default: all.

    See cudaCreateTextureObject: CUDA C++ Programming Guide, "Texture Object API" and "Texture Fetching".

    Examples
    --------
    >>> import numpy as np, cuscope as cs
    >>> mod = cs.Module('''__global__ void read(cudaTextureObject_t t, float* x) {
    ...     *x = tex2D<float>(t, 1.0f, 0.5f); }''')
    >>> a = cs.CudaArray((1, 2))
    >>> a.copy_from(np.array([[10, 20]], np.float32))
    >>> x = cs.empty(1)
    >>> mod.read[1, 1](cs.Texture(a, filter="linear"), x)
    >>> x.to_host()
    array([15.], dtype=float32)
    """
    def __init__(
        self,
        source: typing.Any,
        *,
        channels: typing.SupportsInt | typing.SupportsIndex | None = None,
        filter: str = "point",
        address: typing.Any = "clamp",
        normalized_coordinates: bool = False,
        normalized_reads: bool = False,
        border: typing.Any = 0.0,
        srgb: bool = False,
        mipmap_filter: str = "point",
        mipmap_level_bias: typing.SupportsFloat | typing.SupportsIndex = 0.0,
        min_mipmap_level_clamp: typing.SupportsFloat | typing.SupportsIndex = 0.0,
        max_mipmap_level_clamp: typing.SupportsFloat | typing.SupportsIndex | None = None,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Raises TypeError. The message says why it cannot be pickled, and an alternative.
        """
    def __repr__(self) -> str: ...
    def close(self) -> None:
        """
        Give up the object. It is destroyed once no kernel uses it. Closing twice is no error.
        """
    @property
    def closed(self) -> bool:
        """
        Was the object closed?
        """
    @property
    def device(self) -> Device:
        """
        The device that the kernels using it run on.
        """
    @property
    def handle(self) -> int:
        """
        The cudaTextureObject_t or cudaSurfaceObject_t that kernels get, as an int.
        """

class Surface:
    """
    A surface object, through which kernels read and write an array by surf2Dread(), surf2Dwrite() and their like.

    Pass it to a parameter of type cudaSurfaceObject_t. In kernels, x is in bytes. Make the array with
    CudaArray(..., surface=True). See cudaCreateSurfaceObject: CUDA C++ Programming Guide, "Surface Object API".

    >>> import numpy as np, cuscope as cs
    >>> mod = cs.Module("__global__ void set(cudaSurfaceObject_t s) { surf2Dwrite(7, s, threadIdx.x * 4, 0); }")
    >>> a = cs.CudaArray((1, 3), np.int32, surface=True)
    >>> mod.set[1, 3](cs.Surface(a))
    >>> a.to_host()
    array([[7, 7, 7]], dtype=int32)
    """
    def __init__(self, array: CudaArray) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Raises TypeError. The message says why it cannot be pickled, and an alternative.
        """
    def __repr__(self) -> str: ...
    def close(self) -> None:
        """
        Give up the object. It is destroyed once no kernel uses it. Closing twice is no error.
        """
    @property
    def closed(self) -> bool:
        """
        Was the object closed?
        """
    @property
    def device(self) -> Device:
        """
        The device that the kernels using it run on.
        """
    @property
    def handle(self) -> int:
        """
        The cudaTextureObject_t or cudaSurfaceObject_t that kernels get, as an int.
        """

class Parameter:
    """
    One parameter of a kernel, from Kernel.parameters.

    See CUDA C++ Programming Guide, "Kernels".

    Examples
    --------
    >>> import cuscope as cs
    >>> mod = cs.Module("__global__ void scale(float* x, double by) { x[threadIdx.x] *= by; }")
    >>> [(p.name, p.kind, p.element, p.size) for p in mod.scale.parameters]
    [('x', 'pointer', 'float32', 8), ('by', 'scalar', 'float64', 8)]
    """
    def __copy__(self) -> typing.Any:
        """
        Returns the object itself, because it never changes.
        """
    def __deepcopy__(self, memo: typing.Any) -> typing.Any:
        """
        Returns the object itself, because it never changes.
        """
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Raises TypeError. The message says why it cannot be pickled, and an alternative.
        """
    def __repr__(self) -> str: ...
    @property
    def element(self) -> str:
        """
        NumPy's name of the scalar's type, or of a pointer's target; '' if NumPy has none.
        """
    @property
    def is_const(self) -> bool:
        """
        Does it point to memory that the kernel only reads?
        """
    @property
    def kind(self) -> str:
        """
        'pointer', 'scalar' or 'opaque': a structure, or a parameter of which only the size is known.
        """
    @property
    def name(self) -> str:
        """
        The name in the source; '' if unknown.
        """
    @property
    def size(self) -> int:
        """
        The size of the parameter itself, in bytes.
        """
    @property
    def type(self) -> str:
        """
        The type in the source; '' if unknown.
        """

class GlobalCounts:
    """
    How a kernel accessed the memory of one argument: the values of Counts.by_argument.

    Accesses are counted for threads, requests for warps. Sectors are the 32-byte pieces of memory that the requests touch.

    See CUDA C++ Programming Guide, "Device Memory Accesses".

    Examples
    --------
    >>> import numpy as np, cuscope as cs
    >>> with cs.Device("host:0"):
    ...     mod = cs.Module("__global__ void copy(const float* a, float* b) { b[threadIdx.x] = a[2 * threadIdx.x]; }")
    ...     counts = mod.copy.count(cs.zeros(64, np.float32), cs.zeros(32, np.float32), grid=1, block=32)
    >>> counts.by_argument["a"].loads, counts.by_argument["a"].load_sectors, counts.by_argument["b"].store_sectors
    (32, 8, 4)
    """
    def __copy__(self) -> typing.Any:
        """
        Returns the object itself, because it never changes.
        """
    def __deepcopy__(self, memo: typing.Any) -> typing.Any:
        """
        Returns the object itself, because it never changes.
        """
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Raises TypeError. The message says why it cannot be pickled, and an alternative.
        """
    def __repr__(self) -> str: ...
    @property
    def atomics(self) -> int:
        """
        Atomic operations of threads.
        """
    @property
    def load_bytes(self) -> int:
        """
        Bytes that the reads of threads requested.
        """
    @property
    def load_requests(self) -> int:
        """
        Reads of warps: one for all lanes that execute an instruction together.
        """
    @property
    def load_sectors(self) -> int:
        """
        Sectors of 32 bytes that the reads of warps touch, summed over requests.
        """
    @property
    def loads(self) -> int:
        """
        Reads of threads.
        """
    @property
    def store_bytes(self) -> int:
        """
        Bytes that the writes of threads requested.
        """
    @property
    def store_requests(self) -> int:
        """
        Writes of warps.
        """
    @property
    def store_sectors(self) -> int:
        """
        Sectors of 32 bytes that the writes of warps touch, summed over requests.
        """
    @property
    def stores(self) -> int:
        """
        Writes of threads.
        """

class Counts:
    """
    The operations of the threads of one launch, from Kernel.count().

    The names are Nsight Compute's where it has them: a *request* is one instruction of a warp, a *sector* 32 bytes of global
    memory, a *wavefront* the data that the 32 banks of shared memory deliver at once. Counts are sums over all threads of
    the launch, and the same on every run of the same program. Local memory, constants, textures and parameters are not
    counted.

    See docs/counting.md; CUDA C++ Programming Guide, "Device Memory Accesses" and "Shared Memory".

    Examples
    --------
    >>> import numpy as np, cuscope as cs
    >>> with cs.Device("host:0"):
    ...     mod = cs.Module(\"\"\"__global__ void turn(float* x) {
    ...         __shared__ float tile[32][32];
    ...         tile[threadIdx.y][threadIdx.x] = x[threadIdx.y * 32 + threadIdx.x];
    ...         __syncthreads();
    ...         x[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
    ...     }\"\"\")
    ...     counts = mod.turn.count(cs.zeros((32, 32), np.float32), grid=1, block=(32, 32))
    >>> counts.shared_load_requests, counts.shared_load_wavefronts, counts.shared_load_bank_conflicts
    (32, 1024, 992)
    """
    def __copy__(self) -> typing.Any:
        """
        Returns the object itself, because it never changes.
        """
    def __deepcopy__(self, memo: typing.Any) -> typing.Any:
        """
        Returns the object itself, because it never changes.
        """
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Raises TypeError. The message says why it cannot be pickled, and an alternative.
        """
    def __repr__(self) -> str: ...
    @property
    def active_threads_per_warp(self) -> float:
        """
        thread_steps / warp_steps: 32 if no lane ever waits for other lanes in another branch, or has ended; 0 if nothing ran.
        """
    @property
    def bank_conflicts(self) -> int:
        """
        Bank conflicts of reads and writes together.
        """
    @property
    def by_argument(self) -> dict[str, GlobalCounts]:
        """
        A GlobalCounts for each argument that points to memory, by the parameter's name (or its position, if the name
        is unknown). For a structure, it covers the memory of all its pointers. If several pointers point into one allocation,
        each covers the memory from its address up to the next pointer's.
        """
    @property
    def global_atomics(self) -> int:
        """
        Atomic operations on global memory by threads.
        """
    @property
    def global_load_bytes(self) -> int:
        """
        Bytes that the reads of threads requested.
        """
    @property
    def global_load_requests(self) -> int:
        """
        Reads of global memory by warps.
        """
    @property
    def global_load_sectors(self) -> int:
        """
        Sectors of 32 bytes that the reads of warps touch, summed over requests: 4 a request if a warp reads 32 adjacent floats, 32 if they are far apart.
        """
    @property
    def global_loads(self) -> int:
        """
        Reads of global memory by threads.
        """
    @property
    def global_store_bytes(self) -> int:
        """
        Bytes that the writes of threads requested.
        """
    @property
    def global_store_requests(self) -> int:
        """
        Writes of global memory by warps.
        """
    @property
    def global_store_sectors(self) -> int:
        """
        Sectors of 32 bytes that the writes of warps touch, summed over requests.
        """
    @property
    def global_stores(self) -> int:
        """
        Writes of global memory by threads.
        """
    @property
    def shared_atomics(self) -> int:
        """
        Atomic operations on shared memory by threads.
        """
    @property
    def shared_load_bank_conflicts(self) -> int:
        """
        Wavefronts of reads beyond the fewest that any arrangement of the data would need.
        """
    @property
    def shared_load_requests(self) -> int:
        """
        Reads of shared memory by warps.
        """
    @property
    def shared_load_wavefronts(self) -> int:
        """
        Wavefronts of the reads: in one wavefront, each bank delivers one word of 4 bytes to all lanes that read it.
        """
    @property
    def shared_loads(self) -> int:
        """
        Reads of shared memory by threads.
        """
    @property
    def shared_store_bank_conflicts(self) -> int:
        """
        Wavefronts of writes beyond the fewest that any arrangement of the data would need.
        """
    @property
    def shared_store_requests(self) -> int:
        """
        Writes of shared memory by warps.
        """
    @property
    def shared_store_wavefronts(self) -> int:
        """
        Wavefronts of the writes.
        """
    @property
    def shared_stores(self) -> int:
        """
        Writes of shared memory by threads.
        """
    @property
    def thread_steps(self) -> int:
        """
        Basic blocks of the kernel's code that threads ran.
        """
    @property
    def warp_steps(self) -> int:
        """
        Basic blocks that warps issued. A warp issues a basic block if any of its lanes runs it.
        """

class FunctionAttributes:
    """
    The resources that a kernel needs: the fields of cudaFuncAttributes.

    You get it from Kernel.attributes. A simulated device has no registers and no local memory: their numbers are 0 there.

    See cudaFuncGetAttributes: CUDA Runtime API, "Execution Control".

    Examples
    --------
    >>> import cuscope as cs
    >>> mod = cs.Module("__global__ void k(int* x) { __shared__ int s[64]; int i = threadIdx.x;"
    ...                 " s[i] = x[i]; __syncthreads(); x[i] = s[63 - i]; }")
    >>> mod.k.attributes.shared_size
    256
    """
    def __copy__(self) -> typing.Any:
        """
        Returns the object itself, because it never changes.
        """
    def __deepcopy__(self, memo: typing.Any) -> typing.Any:
        """
        Returns the object itself, because it never changes.
        """
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Raises TypeError. The message says why it cannot be pickled, and an alternative.
        """
    def __repr__(self) -> str: ...
    @property
    def binary_version(self) -> int:
        """
        The real architecture that it was compiled for: 90 is 9.0.
        """
    @property
    def cache_mode_ca(self) -> int:
        """
        Was it compiled to keep global loads in the first-level cache? 1 or 0.
        """
    @property
    def cluster_dim_must_be_set(self) -> int:
        """
        Does a launch need a cluster size? 1 or 0.
        """
    @property
    def cluster_scheduling_policy_preference(self) -> int:
        """
        How clusters are placed: 0 default, 1 spread, 2 load balancing.
        """
    @property
    def const_size(self) -> int:
        """
        __constant__ memory, in bytes.
        """
    @property
    def local_size(self) -> int:
        """
        The local memory of a thread, in bytes.
        """
    @property
    def max_dynamic_shared_size(self) -> int:
        """
        The dynamic shared memory that a launch may request, in bytes.
        """
    @property
    def max_threads_per_block(self) -> int:
        """
        The most threads that a block of this kernel may have.
        """
    @property
    def non_portable_cluster_size_allowed(self) -> int:
        """
        May a cluster have more than 8 blocks? 1 or 0.
        """
    @property
    def preferred_shared_memory_carveout(self) -> int:
        """
        The preferred share of the first-level cache for shared memory, in per cent; -1: no preference.
        """
    @property
    def ptx_version(self) -> int:
        """
        The virtual architecture that it was compiled for: 90 is 9.0.
        """
    @property
    def registers(self) -> int:
        """
        The registers of a thread.
        """
    @property
    def required_cluster_depth(self) -> int:
        """
        The number of blocks along z of the clusters that it requires; 0: it requires none.
        """
    @property
    def required_cluster_height(self) -> int:
        """
        The number of blocks along y of the clusters that it requires; 0: it requires none.
        """
    @property
    def required_cluster_width(self) -> int:
        """
        The number of blocks along x of the clusters that it requires; 0: it requires none.
        """
    @property
    def shared_size(self) -> int:
        """
        The static shared memory of a block, in bytes.
        """

class KernelLaunch:
    """
    A kernel with its grid and block, made by kernel[grid, block]. Call it with the arguments.

    See cudaLaunchKernel: CUDA C++ Programming Guide, "Thread Hierarchy".

    Examples
    --------
    >>> import numpy as np, cuscope as cs
    >>> mod = cs.Module("__global__ void set(int* x) { x[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x; }")
    >>> x = cs.zeros(6, np.int32)
    >>> launch = mod.set[2, 3]
    >>> launch(x)
    >>> x.to_host().tolist()
    [0, 0, 0, 1, 1, 1]
    """
    def __call__(self, *args: typing.Any) -> None:
        """
        Launch the kernel with arguments in the order of its parameters; returns before it has run.

        Raises TypeError for a wrong number of arguments or a wrong type, OverflowError for a number that does not fit,
        ValueError for a closed array or one on another device, CudaError for a grid or block that the device does not support.
        Nothing is launched then. Errors inside the kernel are raised when you wait for it. See cudaLaunchKernel: CUDA C++
        Programming Guide, "Kernels".
        """
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Raises TypeError. The message says why it cannot be pickled, and an alternative.
        """
    def __repr__(self) -> str: ...

class Kernel:
    """
    A __global__ function of a Module, by its name: mod.vec_add.

    ``kernel[grid, block](*args)`` launches it in the current stream of its device; ``kernel[grid, block, stream,
    shared_bytes]`` also sets the stream and the size of dynamic shared memory. The arguments are checked against the
    kernel's signature. For a pointer, pass a DeviceArray of its element type (or a page-locked array, or None); for a
    scalar, a number in its range; for a structure, one element of a structured dtype (or bytes of its size); for a vector
    such as float4, a tuple or a NumPy array of its elements.

    ``grid`` is in blocks and ``block`` in threads: an int, or (x, y, z). The launch returns before the kernel has run.

    See cudaLaunchKernel: CUDA C++ Programming Guide, "Kernels" and "Thread Hierarchy".

    Examples
    --------
    >>> import numpy as np, cuscope as cs
    >>> mod = cs.Module("__global__ void twice(float* x, int n) {"
    ...                 " int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }")
    >>> x = cs.to_device(np.ones(4, np.float32))
    >>> mod.twice[1, 32](x, 4)
    >>> x.to_host()
    array([2., 2., 2., 2.], dtype=float32)
    """
    def __call__(self, *args: typing.Any, **kwargs: typing.Any) -> typing.NoReturn:
        """
        Raises TypeError. Write kernel[grid, block](...).
        """
    def __getitem__(self, key: tuple[typing.Any, ...]) -> KernelLaunch:
        """
        The kernel with a grid and a block, ready to be called: kernel[grid, block, stream, shared_bytes]. You may leave out the last two.
        """
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Raises TypeError. The message says why it cannot be pickled, and an alternative.
        """
    def __repr__(self) -> str: ...
    def available_shared(self, block: typing.SupportsIndex, blocks: typing.SupportsIndex = 1) -> int:
        """
        How many bytes of dynamic shared memory a block can have if a multiprocessor is to hold ``blocks`` blocks.

        To use more than Kernel.max_dynamic_shared, set that first. Raises CudaError (cudaErrorInvalidValue) if a multiprocessor
        cannot hold that many blocks. See cudaOccupancyAvailableDynamicSMemPerBlock.

        >>> import cuscope as cs
        >>> mod = cs.Module("__global__ void nothing() {}")
        >>> mod.nothing.available_shared(256, blocks=8) < mod.nothing.available_shared(256)
        True
        """
    def best_block_size(
        self,
        shared: typing.SupportsIndex | collections.abc.Callable[[int], int] = 0,
        limit: typing.SupportsIndex = 0,
    ) -> tuple[int, int]:
        """
        (grid, block): the block size that fills the device best, and the smallest grid that fills it.

        ``shared`` is the dynamic shared memory of a block in bytes, or a function that returns it for a number of threads;
        exceptions of the function are raised. ``limit`` is the largest block size (0: no limit). See
        cudaOccupancyMaxPotentialBlockSize and cudaOccupancyMaxPotentialBlockSizeVariableSMem.

        >>> import cuscope as cs
        >>> mod = cs.Module("__global__ void nothing() {}")
        >>> grid, block = mod.nothing.best_block_size(limit=128)
        >>> block <= 128
        True
        >>> mod.nothing.best_block_size(lambda threads: 200 * threads)[1] < 1024
        True
        """
    def configure(
        self,
        *,
        grid: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex],
        block: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex],
        stream: Stream | cuscope._protocols.CudaStream | None = None,
        shared: typing.SupportsIndex = 0,
        duration: typing.SupportsFloat | typing.SupportsIndex | None = None,
        cooperative: bool = False,
        cluster: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None,
        preferred_cluster: typing.SupportsIndex
        | collections.abc.Sequence[typing.SupportsIndex]
        | None = None,
        cluster_scheduling_policy: str | None = None,
        priority: typing.SupportsIndex | None = None,
        programmatic: bool = False,
        programmatic_stream_serialization: bool = False,
        programmatic_event: Event | None = None,
        trigger_at_block_start: bool = False,
        launch_completion_event: Event | None = None,
        mem_sync_domain: str | None = None,
        mem_sync_domain_map: collections.abc.Sequence[typing.SupportsIndex] | None = None,
        access_policy_window: AccessPolicyWindow | None = None,
        preferred_shared_memory_carveout: typing.SupportsIndex | None = None,
        nvlink_util_centric_scheduling: bool = False,
    ) -> KernelLaunch:
        """
        The kernel with all options of a launch. Call the result with the arguments, as often as you want.

        Parameters
        ----------
        grid, block : int or tuple of int
            The blocks of the grid and the threads of a block: an int, or (x, y, z).
        stream : Stream, optional
            Default: the current stream of the kernel's device at the time of the call.
        shared : int
            The dynamic shared memory of a block, in bytes. Beyond 48 KiB, set Kernel.max_dynamic_shared first.
        duration : float, optional
            The seconds that the kernel takes on a simulated device; ignored on a GPU.
        cooperative : bool
            All blocks run at once and may wait for each other, with cooperative_groups' grid.sync().
        cluster : int or tuple of int, optional
            The blocks of a cluster, which run at once and can access each other's shared memory. The grid must be a multiple of
            it. At most 8 blocks, or 16 with Kernel.non_portable_cluster_size_allowed.
        preferred_cluster : int or tuple of int, optional
            A multiple of ``cluster`` that is used where there is room.
        cluster_scheduling_policy : str, optional
            'default', 'spread' or 'load_balancing'.
        priority : int, optional
            The priority of this launch, instead of the stream's. Smaller numbers go first; clamped to
            device.stream_priority_range.
        programmatic, programmatic_stream_serialization : bool
            Two names of one option: the kernel may start as soon as the kernel before it in the stream calls
            cudaTriggerProgrammaticLaunchCompletion; it waits for that kernel with cudaGridDependencySynchronize.
        programmatic_event : Event, optional
            An event without timing, recorded when all blocks have triggered; with ``trigger_at_block_start``, when the last
            block starts.
        launch_completion_event : Event, optional
            An event without timing, recorded when all blocks have started.
        mem_sync_domain : str, optional
            'default' or 'remote': the memory synchronization domain of its fences.
        mem_sync_domain_map : (int, int), optional
            The domains that 'default' and 'remote' stand for.
        access_policy_window : AccessPolicyWindow, optional
            How the second-level cache treats a range of memory.
        preferred_shared_memory_carveout : int, optional
            The preferred share of the first-level cache for shared memory, in per cent; -1: no preference.
        nvlink_util_centric_scheduling : bool
            Place blocks so that NVLink is used well.

        Raises TypeError or ValueError, which names the argument. If the device refuses an option, the launch raises CudaError (see
        KernelLaunch.__call__). See cudaLaunchKernelExC and cudaLaunchAttributeID: CUDA C++ Programming Guide, "Thread Block
        Clusters", "Grid Synchronization", "Programmatic Dependent Launch".

        Examples
        --------
        >>> import numpy as np, cuscope as cs
        >>> mod = cs.Module("__global__ void add(int* x, int v) { atomicAdd(x, v); }")
        >>> x = cs.zeros(1, np.int32)
        >>> add = mod.add.configure(grid=2, block=32, cooperative=True)
        >>> add(x, 1)
        >>> add(x, 2)
        >>> int(x.to_host()[0])
        192
        """
    def count(
        self,
        *args: typing.Any,
        grid: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex],
        block: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex],
        stream: Stream | cuscope._protocols.CudaStream | None = None,
        shared: typing.SupportsIndex = 0,
        duration: typing.SupportsFloat | typing.SupportsIndex | None = None,
        cooperative: bool = False,
        cluster: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None,
        preferred_cluster: typing.SupportsIndex
        | collections.abc.Sequence[typing.SupportsIndex]
        | None = None,
        cluster_scheduling_policy: str | None = None,
        priority: typing.SupportsIndex | None = None,
        programmatic: bool = False,
        programmatic_stream_serialization: bool = False,
        programmatic_event: Event | None = None,
        trigger_at_block_start: bool = False,
        launch_completion_event: Event | None = None,
        mem_sync_domain: str | None = None,
        mem_sync_domain_map: collections.abc.Sequence[typing.SupportsIndex] | None = None,
        access_policy_window: AccessPolicyWindow | None = None,
        preferred_shared_memory_carveout: typing.SupportsIndex | None = None,
        nvlink_util_centric_scheduling: bool = False,
    ) -> Counts:
        """
        Launch the kernel as launch() does, wait for it, and return the operations of its threads, as Counts.

        This works on simulated devices, for kernels that were compiled from source: cs.Module(source) or
        cs.Module.from_file('kernel.cu'). When you first count a kernel of a module, the source is compiled a second time, with
        hooks where it accesses memory; the result is cached on disk as other compiled kernels are. The launch does its work, and
        takes as long on the simulated clock as a launch that is not counted.

        Raises the errors of launch(), CudaError for errors inside the kernel, CudaError (cudaErrorNotSupported) on a real GPU,
        ValueError for a kernel without source. See docs/counting.md for the exact meaning of the counts; CUDA C++ Programming
        Guide, "Maximize Memory Throughput".

        Examples
        --------
        >>> import numpy as np, cuscope as cs
        >>> with cs.Device("host:0"):
        ...     mod = cs.Module("__global__ void twice(float* x) { x[threadIdx.x] *= 2; }")
        ...     x = cs.to_device(np.ones(64, np.float32))
        ...     counts = mod.twice.count(x, grid=1, block=64)
        >>> counts.global_loads, counts.global_load_requests, counts.global_load_sectors
        (64, 2, 8)
        """
    def launch(
        self,
        *args: typing.Any,
        grid: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex],
        block: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex],
        stream: Stream | cuscope._protocols.CudaStream | None = None,
        shared: typing.SupportsIndex = 0,
        duration: typing.SupportsFloat | typing.SupportsIndex | None = None,
        cooperative: bool = False,
        cluster: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None,
        preferred_cluster: typing.SupportsIndex
        | collections.abc.Sequence[typing.SupportsIndex]
        | None = None,
        cluster_scheduling_policy: str | None = None,
        priority: typing.SupportsIndex | None = None,
        programmatic: bool = False,
        programmatic_stream_serialization: bool = False,
        programmatic_event: Event | None = None,
        trigger_at_block_start: bool = False,
        launch_completion_event: Event | None = None,
        mem_sync_domain: str | None = None,
        mem_sync_domain_map: collections.abc.Sequence[typing.SupportsIndex] | None = None,
        access_policy_window: AccessPolicyWindow | None = None,
        preferred_shared_memory_carveout: typing.SupportsIndex | None = None,
        nvlink_util_centric_scheduling: bool = False,
    ) -> None:
        """
        Launch the kernel, like kernel[grid, block, stream, shared](*args).

        The keywords are the options of configure(): grid and block, stream and shared, duration (in seconds, on a simulated
        device), and further ones such as cooperative, cluster and priority.

        Raises the errors of configure() and KernelLaunch.__call__. See cudaLaunchKernelExC: CUDA C++ Programming Guide, "Kernels".

        Examples
        --------
        >>> import cuscope as cs
        >>> mod = cs.Module("__global__ void nothing() {}")
        >>> with cs.Device("host:0"):
        ...     start = cs.Event().record()
        ...     mod.nothing.launch(grid=1, block=32, duration=0.002, priority=-1)
        ...     stop = cs.Event().record()
        ...     stop.synchronize()
        ...     stop - start >= 2
        True
        """
    def max_active_clusters(
        self,
        cluster: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex],
        block: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex],
        shared: typing.SupportsIndex = 0,
        grid: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None,
    ) -> int:
        """
        How many clusters the device holds at once, by blocks per cluster and threads per block.

        Raises CudaError for cluster sizes that the kernel does not support. See cudaOccupancyMaxActiveClusters.

        >>> import cuscope as cs
        >>> with cs.Device("host:0"):
        ...     cs.Module("__global__ void nothing() {}").nothing.max_active_clusters(2, 1024)
        132
        """
    def max_cluster_size(
        self,
        block: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex],
        shared: typing.SupportsIndex = 0,
    ) -> int:
        """
        The most blocks that a cluster of the kernel can have, by threads per block.

        It is larger with non_portable_cluster_size_allowed. See cudaOccupancyMaxPotentialClusterSize.

        >>> import cuscope as cs
        >>> with cs.Device("host:0"):
        ...     cs.Module("__global__ void nothing() {}").nothing.max_cluster_size(256)
        8
        """
    def occupancy(
        self,
        block: typing.SupportsIndex,
        shared: typing.SupportsIndex = 0,
        *,
        disable_caching_override: bool = False,
    ) -> int:
        """
        How many blocks of the kernel a multiprocessor holds, by block size and bytes of dynamic shared memory.

        ``disable_caching_override`` keeps global loads cached, even if that lowers the result. Raises ValueError for less than
        one thread. See cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags.

        >>> import cuscope as cs
        >>> mod = cs.Module("__global__ void nothing() {}")
        >>> mod.nothing.occupancy(256) >= 1
        True
        """
    def set_cache_config(self, preference: str) -> None:
        """
        Prefer shared memory or first-level cache: 'prefer_none', 'prefer_shared', 'prefer_l1' or 'prefer_equal'.

        This is a hint; preferred_shared_memory_carveout has finer steps. Raises ValueError for another word. See
        cudaFuncSetCacheConfig: CUDA Runtime API, "Execution Control".

        >>> import cuscope as cs
        >>> cs.Module("__global__ void nothing() {}").nothing.set_cache_config("prefer_shared")
        """
    @property
    def attributes(self) -> FunctionAttributes:
        """
        The resources that it needs. See cudaFuncGetAttributes. All zeros if the device is lost.
        """
    @property
    def cluster_scheduling_policy(self) -> str:
        """
        How the blocks of a cluster are placed: 'default', 'spread' or 'load_balancing'. See cudaFuncSetAttribute.
        """
    @cluster_scheduling_policy.setter
    def cluster_scheduling_policy(self, arg1: str) -> None: ...
    @property
    def device(self) -> Device:
        """
        The device that it was loaded on.
        """
    @property
    def max_dynamic_shared(self) -> int:
        """
        The dynamic shared memory that a launch may request, in bytes. Set it for more than 48 KiB, up to device.properties.shared_memory_per_block_optin. See cudaFuncSetAttribute: CUDA C++ Programming Guide, "Shared Memory".
        """
    @max_dynamic_shared.setter
    def max_dynamic_shared(self, arg1: typing.SupportsIndex) -> None: ...
    @property
    def name(self) -> str:
        """
        The name in the source.
        """
    @property
    def non_portable_cluster_size_allowed(self) -> bool:
        """
        May clusters have more than 8 blocks? Not every device with clusters supports more. See cudaFuncSetAttribute: CUDA C++ Programming Guide, "Thread Block Clusters".
        """
    @non_portable_cluster_size_allowed.setter
    def non_portable_cluster_size_allowed(self, arg1: bool) -> None: ...
    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """
        Its parameters, as Parameter objects.
        """
    @property
    def preferred_shared_memory_carveout(self) -> int:
        """
        The preferred share of the first-level cache for shared memory, in per cent; -1: no preference. A hint. Setting raises CudaError for another number. See cudaFuncSetAttribute: CUDA C++ Programming Guide, "Shared Memory".
        """
    @preferred_shared_memory_carveout.setter
    def preferred_shared_memory_carveout(self, arg1: typing.SupportsIndex) -> None: ...
    @property
    def required_cluster(self) -> tuple[int, int, int] | None:
        """
        The cluster size in blocks (x, y, z) of every launch of the kernel; None: each launch sets its own. Fixed where the source has __cluster_dims__: setting it raises CudaError (cudaErrorNotPermitted). See cudaFuncSetAttribute: CUDA C++ Programming Guide, "Thread Block Clusters".
        """
    @required_cluster.setter
    def required_cluster(
        self, arg1: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None
    ) -> None: ...

class Module:
    """
    CUDA C++ source, compiled and loaded on a device, with its kernels.

    Its kernels are ``mod.vec_add`` and ``mod["scale<float>"]``.

    Parameters
    ----------
    source : str
        CUDA C++. Host code in it (main, launches, functions without __device__) is left out, as in nvcc's compilation for
        the device. Instances of templates that the host code launches are compiled.
    name_expressions : sequence of str
        Instances of templates to compile: ["scale<float>"].
    options : sequence of str
        Options for the compiler: ["-DN=4", "-O3"].
    include_paths : sequence of str or path
        Folders in which #include searches.
    headers : dict of str to str
        Headers as text, by the names in #include.
    file_name : str
        The name of the source in messages.
    cache : bool
        Keep and reuse compiled kernels on disk (CUSCOPE_CACHE_DIR).
    device : Device, optional
        Default: the current device.

    Raises
    ------
    CompileError
        The source does not compile, or takes longer than CUSCOPE_COMPILE_TIMEOUT; ``.log`` has the compiler's output.
    CudaError
        There is no compiler (cudaErrorJitCompilerNotFound), or the device refuses the code.

    See cudaLibraryLoadData (CUDA Runtime API, "Library Management") and, for GPUs, NVRTC's documentation; for simulated
    devices, docs/kernels.md.

    Examples
    --------
    >>> import cuscope as cs
    >>> mod = cs.Module("template <class T> __global__ void set(T* x, T v) { x[threadIdx.x] = v; }",
    ...                 name_expressions=["set<float>"])
    >>> mod.kernels
    ('set<float>',)
    """
    @staticmethod
    def from_file(
        path: str | os.PathLike[str],
        *,
        name_expressions: collections.abc.Sequence[str] = (),
        options: collections.abc.Sequence[str] = (),
        include_paths: collections.abc.Sequence[str | os.PathLike[str]] = (),
        headers: collections.abc.Mapping[str, str] = {},
        cache: bool = True,
        device: Device | None = None,
    ) -> Module:
        """
        A module from a file: a .cu file is compiled; .cubin, .ptx, .fatbin and a saved .image are loaded.

        The folder of a .cu file is among its include paths. The other parameters are the same as for Module(). Raises CudaError
        if the file is missing (cudaErrorFileNotFound) or has no code for this device (cudaErrorInvalidKernelImage), CompileError,
        ValueError for a folder. See cudaLibraryLoadData: CUDA Runtime API, "Library Management".

        >>> import pathlib, tempfile, cuscope as cs
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "one.cu")
        ...     _ = path.write_text("__global__ void one(int* x) { *x = 1; }")
        ...     cs.Module.from_file(path).kernels
        ('one',)
        """
    def __getattr__(self, name: str) -> Kernel:
        """
        A kernel by its name. Raises AttributeError with a list of the names if there is none.
        """
    def __getitem__(self, name: str) -> Kernel:
        """
        A kernel by its name, such as 'scale<float>', by 'put(int*)' where several share one, or by the compiler's mangled name. Raises KeyError with a list of the names if there is none.
        """
    def __init__(
        self,
        source: str,
        *,
        name_expressions: collections.abc.Sequence[str] = (),
        options: collections.abc.Sequence[str] = (),
        include_paths: collections.abc.Sequence[str | os.PathLike[str]] = (),
        headers: collections.abc.Mapping[str, str] = {},
        file_name: str = "kernel.cu",
        cache: bool = True,
        device: Device | None = None,
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Raises TypeError. The message says why it cannot be pickled, and an alternative.
        """
    def __repr__(self) -> str: ...
    def symbol(
        self,
        name: str,
        dtype: numpy.typing.DTypeLike | None = None,
        shape: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None,
    ) -> DeviceArray:
        """
        A __device__ or __constant__ variable of the module, as an array over its memory.

        Copies work in both directions, as with any array; `pointer` is the variable's address and `nbytes` its size. The array
        is one axis of bytes, unless you pass the dtype and the shape of the variable. Raises KeyError if there is no such
        variable, ValueError if the shape does not fit its size. See cudaGetSymbolAddress, cudaMemcpyToSymbol: CUDA C++
        Programming Guide, "Device Memory".

        >>> import numpy as np, cuscope as cs
        >>> mod = cs.Module("__constant__ float scale[2]; __global__ void get(float* x) { *x = scale[1]; }")
        >>> mod.symbol("scale", np.float32).copy_from(np.array([1, 2], np.float32))
        >>> x = cs.empty(1); mod.get[1, 1](x); x.to_host()
        array([2.], dtype=float32)
        """
    @property
    def cached(self) -> bool:
        """
        Was it taken from the cache of compiled kernels?
        """
    @property
    def device(self) -> Device:
        """
        The device that it was loaded on.
        """
    @property
    def image(self) -> bytes:
        """
        The compiled bytes. Save them as an .image file, and load that with from_file().
        """
    @property
    def kernels(self) -> tuple[str, ...]:
        """
        The names of its kernels, in the order of the source.
        """
    @property
    def log(self) -> str:
        """
        The compiler's output.
        """

class WriteValue:
    """
    An operation of a batch: write a number to memory. See Stream.write_value.

    See cuStreamBatchMemOp: CUDA Driver API, "Stream Memory Operations".

    Examples
    --------
    >>> import numpy as np, cuscope as cs
    >>> cs.WriteValue(cs.empty_plain(1, np.uint32), 7)
    <WriteValue 7, 32 bits>
    """
    def __init__(
        self, array: DeviceArray | numpy.typing.NDArray[typing.Any], value: typing.SupportsIndex
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Raises TypeError. The message says why it cannot be pickled, and an alternative.
        """
    def __repr__(self) -> str: ...
    @property
    def array(self) -> typing.Any:
        """
        The array of one element.
        """
    @property
    def value(self) -> int:
        """
        The number.
        """

class WaitValue:
    """
    An operation of a batch: wait until memory holds a number. See Stream.wait_value.

    See cuStreamBatchMemOp: CUDA Driver API, "Stream Memory Operations".

    Examples
    --------
    >>> import numpy as np, cuscope as cs
    >>> cs.WaitValue(cs.empty_plain(1, np.uint64), 7, "eq")
    <WaitValue 7, 64 bits, eq>
    """
    def __init__(
        self,
        array: DeviceArray | numpy.typing.NDArray[typing.Any],
        value: typing.SupportsIndex,
        condition: str = "geq",
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Raises TypeError. The message says why it cannot be pickled, and an alternative.
        """
    def __repr__(self) -> str: ...
    @property
    def array(self) -> typing.Any:
        """
        The array of one element.
        """
    @property
    def condition(self) -> str:
        """
        The condition to wait for: 'geq', 'eq', 'and' or 'nor'.
        """
    @property
    def value(self) -> int:
        """
        The number.
        """

class MemoryBarrier:
    """
    An operation of a batch: order the writes before it and the writes after it.

    The order holds for the whole system, or with ``scope="device"`` for the device. See CU_STREAM_MEM_OP_BARRIER: CUDA
    Driver API, "Stream Memory Operations".

    Examples
    --------
    >>> import cuscope as cs
    >>> cs.MemoryBarrier("device")
    <MemoryBarrier device>
    """
    def __init__(self, scope: str = "system") -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Another MemoryBarrier of the same scope.
        """
    def __repr__(self) -> str: ...
    @property
    def scope(self) -> str:
        """
        Where the order holds: 'system' or 'device'.
        """

class ExternalSemaphore:
    """
    A semaphore of another interface, such as Vulkan, which streams signal and wait for.

    Parameters
    ----------
    fd : int
        The file descriptor that the other interface exported. Unless the import raises, it belongs to CUDA from then on, and
        is closed with the semaphore.
    type : str
        'opaque_fd': a binary semaphore; a wait consumes the signal. 'timeline_semaphore_fd': a counter, which a signal sets
        and a wait compares.
    device : Device, optional
        Default: the current device.

    On a simulated device the other side can be any process: an 'opaque_fd' is an eventfd (a signal adds 1, a wait takes the
    whole count), a 'timeline_semaphore_fd' is a file in memory with the counter in its first 8 bytes.

    Raises CudaError (cudaErrorUnknown) for a file descriptor of another kind. See cudaImportExternalSemaphore: CUDA C++
    Programming Guide, "External Resource Interoperability".

    Examples
    --------
    >>> import os, cuscope as cs
    >>> with cs.Device("host:0"):
    ...     ours = os.eventfd(0)
    ...     semaphore, stream = cs.ExternalSemaphore(os.dup(ours)), cs.Stream()
    ...     stream.signal_external(semaphore)
    ...     stream.synchronize()
    >>> os.eventfd_read(ours)
    1
    >>> os.close(ours)
    """
    def __init__(
        self, fd: typing.SupportsIndex, type: str = "opaque_fd", *, device: Device | None = None
    ) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Raises TypeError. The message says why it cannot be pickled, and an alternative.
        """
    def __repr__(self) -> str: ...
    def close(self) -> None:
        """
        Give up the semaphore; enqueued work and graphs keep it. Closing twice is no error. See cudaDestroyExternalSemaphore.

        >>> import os, cuscope as cs
        >>> with cs.Device("host:0"):
        ...     semaphore = cs.ExternalSemaphore(os.eventfd(0))
        >>> semaphore.close()
        >>> semaphore.closed
        True
        """
    @property
    def closed(self) -> bool:
        """
        Was the semaphore closed?
        """
    @property
    def device(self) -> Device:
        """
        The device that the semaphore was imported for.
        """
    @property
    def handle(self) -> int:
        """
        The cudaExternalSemaphore_t as an int; 0 once it is closed.
        """
    @property
    def type(self) -> str:
        """
        'opaque_fd' or 'timeline_semaphore_fd'.
        """

class GraphNode:
    """
    A node of a graph, from Graph.add_... or Graph.nodes.

    See CUDA C++ Programming Guide, "CUDA Graphs".

    Examples
    --------
    >>> import cuscope as cs
    >>> g = cs.Graph()
    >>> first = g.add_empty()
    >>> second = g.add_empty(after=first)
    >>> second.type, second.dependencies == [first]
    ('empty', True)
    """
    def __eq__(self, arg0: typing.Any) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Raises TypeError. The message says why it cannot be pickled, and an alternative.
        """
    def __repr__(self) -> str: ...
    def destroy(self) -> None:
        """
        Remove the node and its edges from the graph. Executables keep theirs. See cudaGraphDestroyNode.

        >>> import cuscope as cs
        >>> g = cs.Graph()
        >>> g.add_empty().destroy()
        >>> g.nodes
        []
        """
    @property
    def bodies(self) -> list[Graph]:
        """
        The graphs inside: one of a child node, the bodies of a conditional node.
        """
    @property
    def dependencies(self) -> list[GraphNode]:
        """
        The nodes that it waits for.
        """
    @property
    def dependents(self) -> list[GraphNode]:
        """
        The nodes that wait for it.
        """
    @property
    def graph(self) -> Graph:
        """
        The graph that the node belongs to.
        """
    @property
    def label(self) -> str:
        """
        The text of the node in a drawing: a kernel's name and size, a copy's direction and bytes.
        """
    @property
    def params(self) -> dict[str, typing.Any]:
        """
        The parameters of the node: a dictionary with keys that depend on its type.
        """
    @property
    def type(self) -> str:
        """
        The type of the node: 'kernel', 'copy', 'memset', 'host', 'child', 'empty', 'event_wait', 'event_record', 'alloc', 'free', 'batch_mem_op', 'external_semaphore_signal', 'external_semaphore_wait' or 'conditional'.
        """

class Graph:
    """
    Commands and their order, to be launched together as often as you want.

    Add nodes one by one, each after others (``after=``), or capture them: Stream.capture(). The arrays, kernels, events and
    Python callables that the nodes use are kept by the graph and its executables until every launch has ended.

    Parameters
    ----------
    device : Device, optional
        Default: the current device.

    See cudaGraphCreate: CUDA C++ Programming Guide, "CUDA Graphs".

    Examples
    --------
    >>> import numpy as np, cuscope as cs
    >>> mod = cs.Module("__global__ void add(int* x, int v) { x[threadIdx.x] += v; }")
    >>> x, host = cs.empty(4, np.int32), np.arange(4, dtype=np.int32)
    >>> g = cs.Graph()
    >>> copied = g.add_copy(x, host)
    >>> added = g.add_kernel(mod.add, grid=1, block=4, args=(x, 10), after=copied)
    >>> exe = g.instantiate()
    >>> exe.launch()
    >>> x.to_host()
    array([10, 11, 12, 13], dtype=int32)
    """
    def __init__(self, *, device: Device | None = None) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Raises TypeError. The message says why it cannot be pickled, and an alternative.
        """
    def __repr__(self) -> str: ...
    def _repr_svg_(self) -> typing.Any: ...
    def add_alloc(
        self,
        shape: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex],
        dtype: numpy.typing.DTypeLike = ...,
        *,
        after: GraphNode | collections.abc.Iterable[GraphNode] | None = None,
    ) -> tuple[GraphNode, DeviceArray]:
        """
        Add a node that allocates memory when the graph runs; returns the node and an array over the memory.

        Use the array in nodes after this one, and in the streams that you launch the graph in, until a node of this or another
        graph frees it (add_free). Do not use it before the graph has run, after it is freed, or after the graph and its
        executables are gone. A second launch before the memory is freed is refused, unless you instantiated the executable with
        ``auto_free_on_launch``.

        Raises CudaError if there is no room. See cudaGraphAddMemAllocNode: CUDA C++ Programming Guide, "Graph Memory Nodes".

        >>> import cuscope as cs
        >>> g = cs.Graph()
        >>> made, x = g.add_alloc(4)
        >>> filled = g.add_memset(x, 1, after=made)
        >>> y = cs.zeros(4)
        >>> copied = g.add_copy(y, x, after=filled)
        >>> freed = g.add_free(x, after=copied)
        >>> g.instantiate().launch()
        >>> y.to_host()
        array([1., 1., 1., 1.], dtype=float32)
        """
    def add_batch_mem_op(
        self,
        operations: collections.abc.Iterable[WriteValue | WaitValue | MemoryBarrier],
        *,
        after: GraphNode | collections.abc.Iterable[GraphNode] | None = None,
    ) -> GraphNode:
        """
        Add a node of memory operations, done in order: writes of a number, waits for a number, barriers.

        Raises the errors of Stream.batch_mem_op(). See cuGraphAddBatchMemOpNode.

        >>> import numpy as np, cuscope as cs
        >>> flag = cs.pinned_empty(1, np.uint32)
        >>> g = cs.Graph()
        >>> node = g.add_batch_mem_op([cs.WriteValue(flag, 7)])
        >>> g.instantiate().launch()
        >>> cs.synchronize()
        >>> node.type, flag.tolist()
        ('batch_mem_op', [7])
        """
    def add_child(
        self, graph: Graph, *, after: GraphNode | collections.abc.Iterable[GraphNode] | None = None
    ) -> GraphNode:
        """
        Add a node that is a whole graph: a copy of it, as it is now. See cudaGraphAddChildGraphNode.

        >>> import cuscope as cs
        >>> inner, g = cs.Graph(), cs.Graph()
        >>> empty = inner.add_empty()
        >>> len(g.add_child(inner).bodies[0].nodes)
        1
        """
    def add_copy(
        self,
        destination: DeviceArray | numpy.typing.NDArray[typing.Any],
        source: DeviceArray | numpy.typing.NDArray[typing.Any],
        *,
        after: GraphNode | collections.abc.Iterable[GraphNode] | None = None,
    ) -> GraphNode:
        """
        Add a copy between arrays of one shape and dtype, of devices or of the host.

        A NumPy array is read, or written, whenever the graph runs. Strided arrays are copied where they are boxes of rows: one
        copy of one, two or three dimensions. Module variables are arrays too (Module.symbol).

        Raises ValueError for arrays that do not match, or need more than one copy. See cudaGraphAddMemcpyNode.

        >>> import numpy as np, cuscope as cs
        >>> x, host = cs.zeros(4), np.ones(4, np.float32)
        >>> cs.Graph().add_copy(x, host).params["extent"]
        (16, 1, 1)
        """
    def add_dependency(self, before: GraphNode, later: GraphNode, *, programmatic: bool = False) -> None:
        """
        Add an edge: the node ``later`` waits for the node ``before``.

        With ``programmatic``, between kernels, it waits only until the first one has called
        cudaTriggerProgrammaticLaunchCompletion. Raises ValueError for an edge that would close a cycle, CudaError for an edge
        that exists already. See cudaGraphAddDependencies.

        >>> import cuscope as cs
        >>> g = cs.Graph()
        >>> a, b = g.add_empty(), g.add_empty()
        >>> g.add_dependency(a, b)
        >>> g.edges == [(a, b)]
        True
        """
    def add_empty(self, *, after: GraphNode | collections.abc.Iterable[GraphNode] | None = None) -> GraphNode:
        """
        Add a node that does nothing: others may wait for it instead of for all that it waits for.

        Raises ValueError for nodes of another graph. See cudaGraphAddEmptyNode.

        >>> import cuscope as cs
        >>> cs.Graph().add_empty().type
        'empty'
        """
    def add_event_record(
        self, event: Event, *, after: GraphNode | collections.abc.Iterable[GraphNode] | None = None
    ) -> GraphNode:
        """
        Add a node that records an event. See cudaGraphAddEventRecordNode.

        >>> import cuscope as cs
        >>> cs.Graph().add_event_record(cs.Event()).type
        'event_record'
        """
    def add_event_wait(
        self, event: Event, *, after: GraphNode | collections.abc.Iterable[GraphNode] | None = None
    ) -> GraphNode:
        """
        Add a node that waits for an event: for what it was recorded behind when the graph runs.

        See cudaGraphAddEventWaitNode.

        >>> import cuscope as cs
        >>> cs.Graph().add_event_wait(cs.Event()).type
        'event_wait'
        """
    def add_external_semaphore_signal(
        self,
        semaphores: ExternalSemaphore
        | tuple[ExternalSemaphore, typing.SupportsIndex]
        | collections.abc.Iterable[ExternalSemaphore | tuple[ExternalSemaphore, typing.SupportsIndex]],
        *,
        after: GraphNode | collections.abc.Iterable[GraphNode] | None = None,
    ) -> GraphNode:
        """
        Add a node that signals semaphores, as Stream.signal_external() does.

        See cudaGraphAddExternalSemaphoresSignalNode.

        >>> import os, cuscope as cs
        >>> with cs.Device("host:0"):
        ...     cs.Graph().add_external_semaphore_signal(cs.ExternalSemaphore(os.eventfd(0))).type
        'external_semaphore_signal'
        """
    def add_external_semaphore_wait(
        self,
        semaphores: ExternalSemaphore
        | tuple[ExternalSemaphore, typing.SupportsIndex]
        | collections.abc.Iterable[ExternalSemaphore | tuple[ExternalSemaphore, typing.SupportsIndex]],
        *,
        after: GraphNode | collections.abc.Iterable[GraphNode] | None = None,
    ) -> GraphNode:
        """
        Add a node that waits for semaphores, as Stream.wait_external() does.

        See cudaGraphAddExternalSemaphoresWaitNode.

        >>> import os, cuscope as cs
        >>> with cs.Device("host:0"):
        ...     cs.Graph().add_external_semaphore_wait(cs.ExternalSemaphore(os.eventfd(0))).type
        'external_semaphore_wait'
        """
    def add_free(
        self, array: DeviceArray, *, after: GraphNode | collections.abc.Iterable[GraphNode] | None = None
    ) -> GraphNode:
        """
        Add a node that frees the memory of an alloc node.

        Raises CudaError for memory that no node allocates, or that another node of the graph already frees. See
        cudaGraphAddMemFreeNode.

        >>> import cuscope as cs
        >>> g = cs.Graph()
        >>> made, x = g.add_alloc(4)
        >>> g.add_free(x, after=made).type
        'free'
        """
    def add_host(
        self,
        callable: collections.abc.Callable[..., typing.Any],
        *args: typing.Any,
        after: GraphNode | collections.abc.Iterable[GraphNode] | None = None,
        **kwargs: typing.Any,
    ) -> GraphNode:
        """
        Add a call of something on the host, with the given arguments, whenever the graph runs.

        It runs on the runtime's own thread and may not call the runtime. What it raises is raised by the next synchronisation of
        the stream that the graph was launched in. See cudaGraphAddHostNode.

        >>> import cuscope as cs
        >>> seen = []
        >>> g = cs.Graph()
        >>> node = g.add_host(seen.append, 1)
        >>> exe = g.instantiate()
        >>> exe.launch()
        >>> exe.launch()
        >>> cs.synchronize()
        >>> seen
        [1, 1]
        """
    def add_if(
        self,
        handle: typing.SupportsInt | typing.SupportsIndex,
        *,
        with_else: bool = False,
        after: GraphNode | collections.abc.Iterable[GraphNode] | None = None,
    ) -> GraphNode:
        """
        Add a node that runs bodies[0] if the handle's number is not 0; else bodies[1], if it was made with one.

        The bodies are graphs to be filled. See cudaGraphCondTypeIf: CUDA C++ Programming Guide, "Conditional Graph Nodes".

        >>> import cuscope as cs
        >>> g = cs.Graph()
        >>> len(g.add_if(g.conditional_handle(), with_else=True).bodies)
        2
        """
    def add_kernel(
        self,
        kernel: typing.Any,
        *,
        grid: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None,
        block: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None,
        args: typing.Any = (),
        shared: typing.SupportsIndex | None = None,
        after: GraphNode | collections.abc.Iterable[GraphNode] | None = None,
    ) -> GraphNode:
        """
        Add a kernel.

        Parameters
        ----------
        kernel : Kernel or KernelLaunch
            A kernel, with ``grid=`` and ``block=``; or kernel[grid, block], or kernel.configure(...) with its attributes.
        args : tuple
            The kernel's arguments, as a launch takes them. Numbers are copied, arrays kept.
        shared : int, optional
            Dynamic shared memory of a block, in bytes.
        after : GraphNode or list of GraphNode, optional
            What it waits for.

        Raises what a launch raises. See cudaGraphAddKernelNode.

        >>> import cuscope as cs
        >>> mod = cs.Module("__global__ void nothing() {}")
        >>> cs.Graph().add_kernel(mod.nothing[1, 32]).params["block"]
        (32, 1, 1)
        """
    def add_memset(
        self,
        array: DeviceArray,
        value: typing.Any,
        *,
        after: GraphNode | collections.abc.Iterable[GraphNode] | None = None,
    ) -> GraphNode:
        """
        Add a node that sets all elements of an array to a value.

        Elements are of 1, 2 or 4 bytes, or the value repeats one byte, as 0 does. Raises ValueError for others, and for arrays
        whose elements lie neither one after the other nor in rows. See cudaGraphAddMemsetNode.

        >>> import cuscope as cs
        >>> cs.Graph().add_memset(cs.empty(4), 1.5).params["width"]
        4
        """
    def add_switch(
        self,
        handle: typing.SupportsInt | typing.SupportsIndex,
        count: typing.SupportsIndex,
        *,
        after: GraphNode | collections.abc.Iterable[GraphNode] | None = None,
    ) -> GraphNode:
        """
        Add a node that runs the body of the handle's number, or none if there is no such.

        See cudaGraphCondTypeSwitch: CUDA C++ Programming Guide, "Conditional Graph Nodes".

        >>> import cuscope as cs
        >>> g = cs.Graph()
        >>> len(g.add_switch(g.conditional_handle(default=2), 3).bodies)
        3
        """
    def add_while(
        self,
        handle: typing.SupportsInt | typing.SupportsIndex,
        *,
        after: GraphNode | collections.abc.Iterable[GraphNode] | None = None,
    ) -> GraphNode:
        """
        Add a node that runs bodies[0] again and again, as long as the handle's number is not 0.

        See cudaGraphCondTypeWhile: CUDA C++ Programming Guide, "Conditional Graph Nodes".

        >>> import numpy as np, cuscope as cs
        >>> mod = cs.Module('''__global__ void down(cudaGraphConditionalHandle h, int* left) {
        ...     *left -= 1;
        ...     cudaGraphSetConditional(h, *left > 0);
        ... }''')
        >>> left = cs.full(1, 5, np.int32)
        >>> g = cs.Graph()
        >>> handle = g.conditional_handle(default=1)
        >>> loop = g.add_while(handle)
        >>> step = loop.bodies[0].add_kernel(mod.down[1, 1], args=(handle, left))
        >>> g.instantiate().launch()
        >>> left.to_host()
        array([0], dtype=int32)
        """
    def clone(self) -> Graph:
        """
        A copy of the graph, with nodes of its own. See cudaGraphClone.

        >>> import cuscope as cs
        >>> g = cs.Graph()
        >>> node = g.add_empty()
        >>> copy = g.clone()
        >>> copy.find_clone(node) == copy.nodes[0]
        True
        """
    def close(self) -> None:
        """
        Let the graph go; executables of it stay. Closing twice is no error. See cudaGraphDestroy.

        >>> import cuscope as cs
        >>> g = cs.Graph()
        >>> g.close()
        >>> g.closed
        True
        """
    def conditional_handle(self, default: typing.SupportsIndex | None = None) -> int:
        """
        A number that a conditional node looks at, as the int that kernels take as a cudaGraphConditionalHandle.

        Kernels set it with cudaGraphSetConditional(handle, value). With ``default`` every launch begins with that value. One
        conditional node has it. See cudaGraphConditionalHandleCreate: CUDA C++ Programming Guide, "Conditional Graph Nodes".

        >>> import cuscope as cs
        >>> g = cs.Graph()
        >>> node = g.add_if(g.conditional_handle(default=1))
        >>> len(node.bodies)
        1
        """
    def find_clone(self, original: GraphNode) -> GraphNode:
        """
        Call it on a clone: the node that corresponds to a node of the original graph.

        Raises CudaError if there is none. See cudaGraphNodeFindInClone.

        >>> import cuscope as cs
        >>> g = cs.Graph()
        >>> node = g.add_empty()
        >>> g.clone().find_clone(node) == node
        False
        """
    def instantiate(
        self,
        *,
        auto_free_on_launch: bool = False,
        device_launch: bool = False,
        use_node_priority: bool = False,
        upload: Stream | cuscope._protocols.CudaStream | None = None,
    ) -> GraphExec:
        """
        Make an executable of the graph. Later changes of the graph do not change the executable.

        Parameters
        ----------
        auto_free_on_launch : bool
            A launch first frees the memory that alloc nodes of an earlier launch allocated and that was not freed.
        device_launch : bool
            Kernels may launch it, once you have uploaded it. The graph may then have only kernels, memsets, copies of memory
            that is not pageable, and child graphs of these.
        use_node_priority : bool
            Kernels run with the priorities of their nodes, instead of the stream's.
        upload : Stream or None
            Transfer the executable to the device in this stream, as GraphExec.upload() does.

        Raises CudaError if the device refuses the graph. See cudaGraphInstantiate.

        >>> import cuscope as cs
        >>> cs.Graph().instantiate().launch()
        """
    def remove_dependency(self, before: GraphNode, later: GraphNode, *, programmatic: bool = False) -> None:
        """
        Remove an edge. Raises CudaError if there is none. See cudaGraphRemoveDependencies.

        >>> import cuscope as cs
        >>> g = cs.Graph()
        >>> a = g.add_empty()
        >>> b = g.add_empty(after=a)
        >>> g.remove_dependency(a, b)
        >>> g.edges
        []
        """
    def to_dot(self) -> str:
        """
        The graph in DOT, the language of Graphviz: kernels by name, copies with direction and size, bodies in boxes.

        >>> import cuscope as cs
        >>> g = cs.Graph()
        >>> a = g.add_empty()
        >>> b = g.add_empty(after=a)
        >>> print(g.to_dot())
        digraph graph_ {
          n0 [shape=circle, label="empty"];
          n1 [shape=circle, label="empty"];
          n0 -> n1;
        }
        <BLANKLINE>
        """
    @property
    def closed(self) -> bool:
        """
        Was it closed?
        """
    @property
    def device(self) -> Device:
        """
        The device that it is for.
        """
    @property
    def edges(self) -> list[tuple[GraphNode, GraphNode]]:
        """
        Pairs of nodes: the second waits for the first.
        """
    @property
    def nodes(self) -> list[GraphNode]:
        """
        All nodes, in the order in which they were made.
        """
    @property
    def programmatic_edges(self) -> list[tuple[GraphNode, GraphNode]]:
        """
        The edges on which the second kernel waits only until the first one allows its start.
        """
    @property
    def roots(self) -> list[GraphNode]:
        """
        The nodes that wait for no other.
        """

class GraphUpdate:
    """
    The result of GraphExec.update(): true if the executable was updated.

    See cudaGraphExecUpdate.

    Examples
    --------
    >>> import cuscope as cs
    >>> exe = cs.Graph().instantiate()
    >>> exe.update(cs.Graph())
    <GraphUpdate success>
    """
    def __bool__(self) -> bool: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Raises TypeError. The message says why it cannot be pickled, and an alternative.
        """
    def __repr__(self) -> str: ...
    @property
    def from_node(self) -> GraphNode:
        """
        The first node of an edge that differs; None otherwise.
        """
    @property
    def node(self) -> GraphNode:
        """
        The node of the new graph that differs; None if no single node does.
        """
    @property
    def result(self) -> str:
        """
        'success', or the reason why not: 'topology_changed', 'node_type_changed', 'function_changed', 'parameters_changed', 'unsupported_function_change', 'attributes_changed', 'not_supported', 'error'.
        """

class GraphExec:
    """
    An executable graph, from Graph.instantiate().

    Launch it as often as you want, in any stream of its device; two launches of it never overlap. It outlives its graph.

    See cudaGraphInstantiate: CUDA C++ Programming Guide, "CUDA Graphs".

    Examples
    --------
    >>> import cuscope as cs
    >>> x = cs.zeros(4)
    >>> with cs.Stream() as stream, stream.capture() as graph:
    ...     x.fill(2)
    >>> exe = graph.instantiate()
    >>> exe.launch(stream)
    >>> x.to_host(stream=stream)
    array([2., 2., 2., 2.], dtype=float32)
    """
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Raises TypeError. The message says why it cannot be pickled, and an alternative.
        """
    def __repr__(self) -> str: ...
    def close(self) -> None:
        """
        Release the executable; launches in flight go on. Closing twice is no error. See cudaGraphExecDestroy.

        >>> import cuscope as cs
        >>> exe = cs.Graph().instantiate()
        >>> exe.close()
        >>> exe.closed
        True
        """
    def is_enabled(self, node: GraphNode) -> bool:
        """
        Do launches run this node, rather than skip it? See cudaGraphNodeGetEnabled.

        >>> import cuscope as cs
        >>> g = cs.Graph()
        >>> node = g.add_memset(cs.zeros(1), 1)
        >>> g.instantiate().is_enabled(node)
        True
        """
    def launch(self, stream: Stream | cuscope._protocols.CudaStream | None = None) -> None:
        """
        Run the graph in a stream. Default: the current one.

        Raises CaptureError if the stream is being captured (Graph.add_child makes a graph a part of another), CudaError if the
        device refuses the launch. See cudaGraphLaunch.

        >>> import cuscope as cs
        >>> cs.Graph().instantiate().launch()
        """
    def set_batch_mem_op(
        self, node: GraphNode, operations: collections.abc.Iterable[WriteValue | WaitValue | MemoryBarrier]
    ) -> None:
        """
        Change the arrays, numbers and conditions in a node of memory operations. Their types and count must stay.

        See cuGraphExecBatchMemOpNodeSetParams.

        >>> import numpy as np, cuscope as cs
        >>> flag = cs.pinned_empty(1, np.uint32)
        >>> g = cs.Graph()
        >>> node = g.add_batch_mem_op([cs.WriteValue(flag, 1)])
        >>> exe = g.instantiate()
        >>> exe.set_batch_mem_op(node, [cs.WriteValue(flag, 2)])
        >>> exe.launch()
        >>> cs.synchronize()
        >>> flag.tolist()
        [2]
        """
    def set_child(self, node: GraphNode, graph: Graph) -> None:
        """
        Take over the parameters of a graph in a child node. It must have the child's nodes and edges.

        See cudaGraphExecChildGraphNodeSetParams.

        >>> import cuscope as cs
        >>> x, inner, other, g = cs.zeros(1), cs.Graph(), cs.Graph(), cs.Graph()
        >>> one, two = inner.add_memset(x, 1), other.add_memset(x, 2)
        >>> node = g.add_child(inner)
        >>> exe = g.instantiate()
        >>> exe.set_child(node, other)
        >>> exe.launch()
        >>> x.to_host()
        array([2.], dtype=float32)
        """
    def set_copy(
        self,
        node: GraphNode,
        destination: DeviceArray | numpy.typing.NDArray[typing.Any],
        source: DeviceArray | numpy.typing.NDArray[typing.Any],
    ) -> None:
        """
        Change a copy node of the executable. The direction must stay. See cudaGraphExecMemcpyNodeSetParams.

        >>> import numpy as np, cuscope as cs
        >>> x, one, two = cs.zeros(1), np.ones(1, np.float32), np.full(1, 2, np.float32)
        >>> g = cs.Graph()
        >>> node = g.add_copy(x, one)
        >>> exe = g.instantiate()
        >>> exe.set_copy(node, x, two)
        >>> exe.launch()
        >>> x.to_host()
        array([2.], dtype=float32)
        """
    def set_enabled(self, node: GraphNode, enabled: bool) -> None:
        """
        Let later launches run a node or skip it: a kernel, copy or memset node.

        Raises CudaError for nodes of other types. See cudaGraphNodeSetEnabled.

        >>> import cuscope as cs
        >>> x = cs.zeros(1)
        >>> g = cs.Graph()
        >>> node = g.add_memset(x, 1)
        >>> exe = g.instantiate()
        >>> exe.set_enabled(node, False)
        >>> exe.launch()
        >>> exe.is_enabled(node), x.to_host().tolist()
        (False, [0.0])
        """
    def set_event(self, node: GraphNode, event: Event) -> None:
        """
        Change the event that a node of the executable records or waits for.

        See cudaGraphExecEventRecordNodeSetEvent and cudaGraphExecEventWaitNodeSetEvent.

        >>> import cuscope as cs
        >>> g, event = cs.Graph(), cs.Event()
        >>> node = g.add_event_record(cs.Event())
        >>> exe = g.instantiate()
        >>> exe.set_event(node, event)
        """
    def set_external_semaphores(
        self,
        node: GraphNode,
        semaphores: ExternalSemaphore
        | tuple[ExternalSemaphore, typing.SupportsIndex]
        | collections.abc.Iterable[ExternalSemaphore | tuple[ExternalSemaphore, typing.SupportsIndex]],
    ) -> None:
        """
        Change the semaphores and values of a node of the executable. The number of semaphores must stay.

        See cudaGraphExecExternalSemaphoresSignalNodeSetParams and cudaGraphExecExternalSemaphoresWaitNodeSetParams.

        >>> import os, cuscope as cs
        >>> with cs.Device("host:0"):
        ...     g = cs.Graph()
        ...     node = g.add_external_semaphore_signal(cs.ExternalSemaphore(os.eventfd(0)))
        ...     g.instantiate().set_external_semaphores(node, cs.ExternalSemaphore(os.eventfd(0)))
        """
    def set_host(
        self,
        node: GraphNode,
        callable: collections.abc.Callable[..., typing.Any],
        *args: typing.Any,
        **kwargs: typing.Any,
    ) -> None:
        """
        Change the callable of a host node of the executable. See cudaGraphExecHostNodeSetParams.

        >>> import cuscope as cs
        >>> seen = []
        >>> g = cs.Graph()
        >>> node = g.add_host(seen.append, 1)
        >>> exe = g.instantiate()
        >>> exe.set_host(node, seen.append, 2)
        >>> exe.launch()
        >>> cs.synchronize()
        >>> seen
        [2]
        """
    def set_kernel(
        self,
        node: GraphNode,
        kernel: typing.Any,
        *,
        grid: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None,
        block: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None = None,
        args: typing.Any = (),
        shared: typing.SupportsIndex | None = None,
    ) -> None:
        """
        Change a kernel node of the executable, not of the graph. Takes the arguments of Graph.add_kernel().

        See cudaGraphExecKernelNodeSetParams.

        >>> import numpy as np, cuscope as cs
        >>> mod = cs.Module("__global__ void set(int* x, int v) { *x = v; }")
        >>> x = cs.zeros(1, np.int32)
        >>> g = cs.Graph()
        >>> node = g.add_kernel(mod.set[1, 1], args=(x, 1))
        >>> exe = g.instantiate()
        >>> exe.set_kernel(node, mod.set[1, 1], args=(x, 2))
        >>> exe.launch()
        >>> x.to_host()
        array([2], dtype=int32)
        """
    def set_memset(self, node: GraphNode, array: DeviceArray, value: typing.Any) -> None:
        """
        Change a memset node of the executable. See cudaGraphExecMemsetNodeSetParams.

        >>> import cuscope as cs
        >>> x = cs.zeros(1)
        >>> g = cs.Graph()
        >>> node = g.add_memset(x, 1)
        >>> exe = g.instantiate()
        >>> exe.set_memset(node, x, 2)
        >>> exe.launch()
        >>> x.to_host()
        array([2.], dtype=float32)
        """
    def update(self, graph: Graph) -> GraphUpdate:
        """
        Take over the parameters of another graph that has the same nodes and edges.

        Later launches use them. If the graphs differ in more than parameters, the result says where, and the executable is
        unchanged. See cudaGraphExecUpdate.

        >>> import cuscope as cs
        >>> g, other = cs.Graph(), cs.Graph()
        >>> node = other.add_empty()
        >>> bool(g.instantiate().update(other))
        False
        """
    def upload(self, stream: Stream | cuscope._protocols.CudaStream | None = None) -> None:
        """
        Transfer the executable to the device, so that the first launch is quick. See cudaGraphUpload.

        >>> import cuscope as cs
        >>> cs.Graph().instantiate().upload()
        """
    @property
    def closed(self) -> bool:
        """
        Was the executable closed?
        """
    @property
    def device(self) -> Device:
        """
        The device that it runs on.
        """
    @property
    def flags(self) -> int:
        """
        The bits of cudaGraphInstantiateFlags that it was instantiated with.
        """
    @property
    def handle(self) -> int:
        """
        The runtime's own handle, a cudaGraphExec_t, as an int.

        If you pass the GraphExec itself to a kernel, it is kept until the kernel has run; if you pass this number, it is not.

        >>> import cuscope as cs
        >>> exe = cs.Graph().instantiate()
        >>> exe.handle != 0
        True
        """

class Capture:
    """
    The context manager of ``with stream.capture() as graph:``.

    See Stream.capture().

    Examples
    --------
    >>> import cuscope as cs
    >>> stream, x = cs.Stream(), cs.zeros(4)
    >>> with stream.capture() as graph:
    ...     x.fill(1)
    >>> len(graph.nodes)
    1
    """
    def __enter__(self) -> Graph: ...
    def __exit__(self, arg0: typing.Any, arg1: typing.Any, arg2: typing.Any) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Raises TypeError. The message says why it cannot be pickled, and an alternative.
        """
    def __repr__(self) -> str: ...

class Contract:
    """
    The contract of a runtime, method by method, for tests.
    """
    class Side:
        """
        One side of a 3-D copy.
        """
        def __init__(
            self,
            array: typing.SupportsInt | typing.SupportsIndex = 0,
            pitched: tuple[
                typing.SupportsInt | typing.SupportsIndex,
                typing.SupportsInt | typing.SupportsIndex,
                typing.SupportsInt | typing.SupportsIndex,
                typing.SupportsInt | typing.SupportsIndex,
            ] = (0, 0, 0, 0),
            position: tuple[
                typing.SupportsInt | typing.SupportsIndex,
                typing.SupportsInt | typing.SupportsIndex,
                typing.SupportsInt | typing.SupportsIndex,
            ] = (0, 0, 0),
        ) -> None: ...
        def __reduce__(self) -> tuple[typing.Any, ...]:
            """
            Raises TypeError. The message says why it cannot be pickled, and an alternative.
            """

    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Raises TypeError. The message says why it cannot be pickled, and an alternative.
        """
    def add_device(self, model: str) -> tuple[typing.Any, ...]: ...
    def array_get_info(self, array: typing.SupportsInt | typing.SupportsIndex) -> tuple[typing.Any, ...]: ...
    def clock_ns(self) -> int: ...
    def compile(
        self,
        source: str,
        name_expressions: collections.abc.Sequence[str] = (),
        options: collections.abc.Sequence[str] = (),
        include_paths: collections.abc.Sequence[str] = (),
        headers: collections.abc.Mapping[str, str] = {},
        file_name: str = "kernel.cu",
        use_cache: bool = True,
    ) -> tuple[typing.Any, ...]: ...
    def create_surface_object(self, resource: dict[str, typing.Any]) -> tuple[typing.Any, ...]: ...
    def create_texture_object(
        self,
        resource: dict[str, typing.Any],
        address_mode: typing.Annotated[
            collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex], "FixedSize(3)"
        ] = [0, 0, 0],
        filter_mode: typing.SupportsInt | typing.SupportsIndex = 0,
        read_mode: typing.SupportsInt | typing.SupportsIndex = 0,
        normalized_coordinates: bool = False,
        border_color: typing.Annotated[
            collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], "FixedSize(4)"
        ] = [0.0, 0.0, 0.0, 0.0],
        srgb: bool = False,
        mipmap_filter_mode: typing.SupportsInt | typing.SupportsIndex = 0,
        mipmap_level_bias: typing.SupportsFloat | typing.SupportsIndex = 0.0,
        mipmap_level_clamp: typing.Annotated[
            collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], "FixedSize(2)"
        ] = [0.0, 0.0],
    ) -> tuple[typing.Any, ...]: ...
    def ctx_reset_persisting_l2_cache(self) -> str: ...
    def destroy_external_semaphore(self, semaphore: typing.SupportsInt | typing.SupportsIndex) -> str: ...
    def destroy_surface_object(self, surface: typing.SupportsInt | typing.SupportsIndex) -> str: ...
    def destroy_texture_object(self, texture: typing.SupportsInt | typing.SupportsIndex) -> str: ...
    def device_can_access_peer(
        self,
        device: typing.SupportsInt | typing.SupportsIndex,
        peer: typing.SupportsInt | typing.SupportsIndex,
    ) -> tuple[typing.Any, ...]: ...
    def device_disable_peer_access(self, peer: typing.SupportsInt | typing.SupportsIndex) -> str: ...
    def device_enable_peer_access(
        self,
        peer: typing.SupportsInt | typing.SupportsIndex,
        flags: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> str: ...
    def device_get_attribute(
        self,
        attribute: typing.SupportsInt | typing.SupportsIndex,
        device: typing.SupportsInt | typing.SupportsIndex,
    ) -> tuple[typing.Any, ...]: ...
    def device_get_default_mem_pool(
        self, device: typing.SupportsInt | typing.SupportsIndex
    ) -> tuple[typing.Any, ...]: ...
    def device_get_limit(
        self, limit: typing.SupportsInt | typing.SupportsIndex
    ) -> tuple[typing.Any, ...]: ...
    def device_get_mem_pool(
        self, device: typing.SupportsInt | typing.SupportsIndex
    ) -> tuple[typing.Any, ...]: ...
    def device_get_stream_priority_range(self) -> tuple[typing.Any, ...]: ...
    def device_reset(self) -> str: ...
    def device_set_limit(
        self,
        limit: typing.SupportsInt | typing.SupportsIndex,
        value: typing.SupportsInt | typing.SupportsIndex,
    ) -> str: ...
    def device_set_mem_pool(
        self,
        device: typing.SupportsInt | typing.SupportsIndex,
        pool: typing.SupportsInt | typing.SupportsIndex,
    ) -> str: ...
    def device_synchronize(self) -> str: ...
    def driver_get_version(self) -> tuple[typing.Any, ...]: ...
    def error_detail(self) -> str: ...
    def event_create_with_flags(
        self, flags: typing.SupportsInt | typing.SupportsIndex = 0
    ) -> tuple[typing.Any, ...]: ...
    def event_destroy(self, event: typing.SupportsInt | typing.SupportsIndex) -> str: ...
    def event_elapsed_time(
        self, start: typing.SupportsInt | typing.SupportsIndex, end: typing.SupportsInt | typing.SupportsIndex
    ) -> tuple[typing.Any, ...]: ...
    def event_query(self, event: typing.SupportsInt | typing.SupportsIndex) -> str: ...
    def event_record_with_flags(
        self,
        event: typing.SupportsInt | typing.SupportsIndex,
        stream: typing.SupportsInt | typing.SupportsIndex = 0,
        flags: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> str: ...
    def event_synchronize(self, event: typing.SupportsInt | typing.SupportsIndex) -> str: ...
    def free(self, pointer: typing.SupportsInt | typing.SupportsIndex) -> str: ...
    def free_array(self, array: typing.SupportsInt | typing.SupportsIndex) -> str: ...
    def free_async(
        self,
        pointer: typing.SupportsInt | typing.SupportsIndex,
        stream: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> str: ...
    def free_host(self, pointer: typing.SupportsInt | typing.SupportsIndex) -> str: ...
    def free_mipmapped_array(self, array: typing.SupportsInt | typing.SupportsIndex) -> str: ...
    def func_get_attributes(
        self, kernel: typing.SupportsInt | typing.SupportsIndex
    ) -> tuple[typing.Any, ...]: ...
    def func_get_name(self, kernel: typing.SupportsInt | typing.SupportsIndex) -> tuple[typing.Any, ...]: ...
    def func_get_param_info(
        self,
        kernel: typing.SupportsInt | typing.SupportsIndex,
        index: typing.SupportsInt | typing.SupportsIndex,
    ) -> tuple[typing.Any, ...]: ...
    def func_set_attribute(
        self,
        kernel: typing.SupportsInt | typing.SupportsIndex,
        attribute: typing.SupportsInt | typing.SupportsIndex,
        value: typing.SupportsInt | typing.SupportsIndex,
    ) -> str: ...
    def func_set_cache_config(
        self,
        kernel: typing.SupportsInt | typing.SupportsIndex,
        config: typing.SupportsInt | typing.SupportsIndex,
    ) -> str: ...
    def get_device(self) -> tuple[typing.Any, ...]: ...
    def get_device_count(self) -> tuple[typing.Any, ...]: ...
    def get_device_flags(self) -> tuple[typing.Any, ...]: ...
    def get_device_properties(
        self, device: typing.SupportsInt | typing.SupportsIndex
    ) -> tuple[typing.Any, ...]: ...
    def get_last_error(self) -> str: ...
    def get_mipmapped_array_level(
        self,
        array: typing.SupportsInt | typing.SupportsIndex,
        index: typing.SupportsInt | typing.SupportsIndex,
    ) -> tuple[typing.Any, ...]: ...
    def graph_add_dependencies(
        self,
        graph: typing.SupportsInt | typing.SupportsIndex,
        from_nodes: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        to_nodes: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        edge_data: collections.abc.Sequence[
            tuple[
                typing.SupportsInt | typing.SupportsIndex,
                typing.SupportsInt | typing.SupportsIndex,
                typing.SupportsInt | typing.SupportsIndex,
            ]
        ] = (),
    ) -> str: ...
    def graph_add_node(
        self,
        graph: typing.SupportsInt | typing.SupportsIndex,
        parameters: dict[str, typing.Any],
        after: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] = (),
        edge_data: collections.abc.Sequence[
            tuple[
                typing.SupportsInt | typing.SupportsIndex,
                typing.SupportsInt | typing.SupportsIndex,
                typing.SupportsInt | typing.SupportsIndex,
            ]
        ] = (),
    ) -> tuple[typing.Any, ...]: ...
    def graph_clone(self, original: typing.SupportsInt | typing.SupportsIndex) -> tuple[typing.Any, ...]: ...
    def graph_conditional_handle_create(
        self,
        graph: typing.SupportsInt | typing.SupportsIndex,
        default_value: typing.SupportsInt | typing.SupportsIndex = 0,
        flags: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> tuple[typing.Any, ...]: ...
    def graph_create(
        self, flags: typing.SupportsInt | typing.SupportsIndex = 0
    ) -> tuple[typing.Any, ...]: ...
    def graph_debug_dot_print(
        self,
        graph: typing.SupportsInt | typing.SupportsIndex,
        path: str,
        flags: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> str: ...
    def graph_destroy(self, graph: typing.SupportsInt | typing.SupportsIndex) -> str: ...
    def graph_destroy_node(self, node: typing.SupportsInt | typing.SupportsIndex) -> str: ...
    def graph_exec_destroy(self, exec: typing.SupportsInt | typing.SupportsIndex) -> str: ...
    def graph_exec_get_flags(
        self, exec: typing.SupportsInt | typing.SupportsIndex
    ) -> tuple[typing.Any, ...]: ...
    def graph_exec_node_set_params(
        self,
        exec: typing.SupportsInt | typing.SupportsIndex,
        node: typing.SupportsInt | typing.SupportsIndex,
        parameters: dict[str, typing.Any],
    ) -> str: ...
    def graph_exec_update(
        self,
        exec: typing.SupportsInt | typing.SupportsIndex,
        graph: typing.SupportsInt | typing.SupportsIndex,
    ) -> tuple[typing.Any, ...]: ...
    def graph_get_edges(
        self,
        graph: typing.SupportsInt | typing.SupportsIndex,
        room: typing.SupportsInt | typing.SupportsIndex | None = None,
        with_data: bool = True,
    ) -> tuple[typing.Any, ...]: ...
    def graph_get_nodes(
        self,
        graph: typing.SupportsInt | typing.SupportsIndex,
        room: typing.SupportsInt | typing.SupportsIndex | None = None,
    ) -> tuple[typing.Any, ...]: ...
    def graph_get_root_nodes(
        self,
        graph: typing.SupportsInt | typing.SupportsIndex,
        room: typing.SupportsInt | typing.SupportsIndex | None = None,
    ) -> tuple[typing.Any, ...]: ...
    def graph_instantiate(
        self,
        graph: typing.SupportsInt | typing.SupportsIndex,
        flags: typing.SupportsInt | typing.SupportsIndex = 0,
        upload_stream: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> tuple[typing.Any, ...]: ...
    def graph_launch(
        self,
        exec: typing.SupportsInt | typing.SupportsIndex,
        stream: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> str: ...
    def graph_node_find_in_clone(
        self,
        original: typing.SupportsInt | typing.SupportsIndex,
        clone: typing.SupportsInt | typing.SupportsIndex,
    ) -> tuple[typing.Any, ...]: ...
    def graph_node_get_dependencies(
        self,
        node: typing.SupportsInt | typing.SupportsIndex,
        room: typing.SupportsInt | typing.SupportsIndex | None = None,
        with_data: bool = True,
    ) -> tuple[typing.Any, ...]: ...
    def graph_node_get_dependent_nodes(
        self,
        node: typing.SupportsInt | typing.SupportsIndex,
        room: typing.SupportsInt | typing.SupportsIndex | None = None,
        with_data: bool = True,
    ) -> tuple[typing.Any, ...]: ...
    def graph_node_get_enabled(
        self, exec: typing.SupportsInt | typing.SupportsIndex, node: typing.SupportsInt | typing.SupportsIndex
    ) -> tuple[typing.Any, ...]: ...
    def graph_node_get_type(
        self, node: typing.SupportsInt | typing.SupportsIndex
    ) -> tuple[typing.Any, ...]: ...
    def graph_node_set_enabled(
        self,
        exec: typing.SupportsInt | typing.SupportsIndex,
        node: typing.SupportsInt | typing.SupportsIndex,
        enabled: typing.SupportsInt | typing.SupportsIndex,
    ) -> str: ...
    def graph_node_set_params(
        self, node: typing.SupportsInt | typing.SupportsIndex, parameters: dict[str, typing.Any]
    ) -> str: ...
    def graph_remove_dependencies(
        self,
        graph: typing.SupportsInt | typing.SupportsIndex,
        from_nodes: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        to_nodes: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        edge_data: collections.abc.Sequence[
            tuple[
                typing.SupportsInt | typing.SupportsIndex,
                typing.SupportsInt | typing.SupportsIndex,
                typing.SupportsInt | typing.SupportsIndex,
            ]
        ] = (),
    ) -> str: ...
    def graph_upload(
        self,
        exec: typing.SupportsInt | typing.SupportsIndex,
        stream: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> str: ...
    def host_alloc(
        self,
        bytes: typing.SupportsInt | typing.SupportsIndex,
        flags: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> tuple[typing.Any, ...]: ...
    def host_get_device_pointer(
        self,
        pointer: typing.SupportsInt | typing.SupportsIndex,
        flags: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> tuple[typing.Any, ...]: ...
    def host_get_flags(
        self, pointer: typing.SupportsInt | typing.SupportsIndex
    ) -> tuple[typing.Any, ...]: ...
    def host_register(
        self,
        pointer: typing.SupportsInt | typing.SupportsIndex,
        bytes: typing.SupportsInt | typing.SupportsIndex,
        flags: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> str: ...
    def host_unregister(self, pointer: typing.SupportsInt | typing.SupportsIndex) -> str: ...
    def host_work(self, nanoseconds: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def import_external_semaphore(
        self,
        type: typing.SupportsInt | typing.SupportsIndex,
        fd: typing.SupportsInt | typing.SupportsIndex,
        flags: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> tuple[typing.Any, ...]: ...
    def kind(self) -> str: ...
    def launch_host_func(
        self, stream: typing.SupportsInt | typing.SupportsIndex, callable: typing.Any
    ) -> str: ...
    def launch_kernel(
        self,
        kernel: typing.SupportsInt | typing.SupportsIndex,
        grid: typing.SupportsInt
        | typing.SupportsIndex
        | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        block: typing.SupportsInt
        | typing.SupportsIndex
        | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        arguments: collections.abc.Sequence[str] = (),
        dynamic_shared: typing.SupportsInt | typing.SupportsIndex = 0,
        stream: typing.SupportsInt | typing.SupportsIndex = 0,
        duration_ns: typing.SupportsInt | typing.SupportsIndex = -1,
        cooperative: bool = False,
        cluster: typing.SupportsInt
        | typing.SupportsIndex
        | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]
        | None = None,
        attributes: collections.abc.Sequence[dict[str, typing.Any]] = [],
    ) -> str: ...
    def library_enumerate_kernels(
        self,
        count: typing.SupportsInt | typing.SupportsIndex,
        library: typing.SupportsInt | typing.SupportsIndex,
    ) -> tuple[typing.Any, ...]: ...
    def library_get_global(
        self, library: typing.SupportsInt | typing.SupportsIndex, name: str
    ) -> tuple[typing.Any, ...]: ...
    def library_get_kernel(
        self, library: typing.SupportsInt | typing.SupportsIndex, lowered_name: str
    ) -> tuple[typing.Any, ...]: ...
    def library_get_kernel_count(
        self, library: typing.SupportsInt | typing.SupportsIndex
    ) -> tuple[typing.Any, ...]: ...
    def library_load_data(self, image: str) -> tuple[typing.Any, ...]: ...
    def library_unload(self, library: typing.SupportsInt | typing.SupportsIndex) -> str: ...
    def malloc(
        self, bytes: typing.SupportsInt | typing.SupportsIndex, null_out: bool = False
    ) -> tuple[typing.Any, ...]: ...
    def malloc_3d(
        self,
        extent: tuple[
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
        ],
    ) -> tuple[typing.Any, ...]: ...
    def malloc_3d_array(
        self,
        format: tuple[
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
        ],
        extent: tuple[
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
        ],
        flags: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> tuple[typing.Any, ...]: ...
    def malloc_array(
        self,
        format: tuple[
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
        ],
        width: typing.SupportsInt | typing.SupportsIndex,
        height: typing.SupportsInt | typing.SupportsIndex = 0,
        flags: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> tuple[typing.Any, ...]: ...
    def malloc_async(
        self,
        bytes: typing.SupportsInt | typing.SupportsIndex,
        stream: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> tuple[typing.Any, ...]: ...
    def malloc_from_pool_async(
        self,
        bytes: typing.SupportsInt | typing.SupportsIndex,
        pool: typing.SupportsInt | typing.SupportsIndex,
        stream: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> tuple[typing.Any, ...]: ...
    def malloc_managed(
        self,
        bytes: typing.SupportsInt | typing.SupportsIndex,
        flags: typing.SupportsInt | typing.SupportsIndex = 1,
    ) -> tuple[typing.Any, ...]: ...
    def malloc_mipmapped_array(
        self,
        format: tuple[
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
        ],
        extent: tuple[
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
        ],
        levels: typing.SupportsInt | typing.SupportsIndex,
        flags: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> tuple[typing.Any, ...]: ...
    def malloc_pitch(
        self,
        width: typing.SupportsInt | typing.SupportsIndex,
        height: typing.SupportsInt | typing.SupportsIndex,
    ) -> tuple[typing.Any, ...]: ...
    def mem_advise(
        self,
        pointer: typing.SupportsInt | typing.SupportsIndex,
        bytes: typing.SupportsInt | typing.SupportsIndex,
        advice: typing.SupportsInt | typing.SupportsIndex,
        location: tuple[typing.SupportsInt | typing.SupportsIndex, typing.SupportsInt | typing.SupportsIndex],
    ) -> str: ...
    def mem_get_info(self) -> tuple[typing.Any, ...]: ...
    def mem_pool_create(
        self,
        device: typing.SupportsInt | typing.SupportsIndex,
        max_size: typing.SupportsInt | typing.SupportsIndex = 0,
        location_type: typing.SupportsInt | typing.SupportsIndex = 1,
    ) -> tuple[typing.Any, ...]: ...
    def mem_pool_destroy(self, pool: typing.SupportsInt | typing.SupportsIndex) -> str: ...
    def mem_pool_get_access(
        self,
        pool: typing.SupportsInt | typing.SupportsIndex,
        device: typing.SupportsInt | typing.SupportsIndex,
    ) -> tuple[typing.Any, ...]: ...
    def mem_pool_get_attribute(
        self,
        pool: typing.SupportsInt | typing.SupportsIndex,
        attribute: typing.SupportsInt | typing.SupportsIndex,
    ) -> tuple[typing.Any, ...]: ...
    def mem_pool_set_access(
        self,
        pool: typing.SupportsInt | typing.SupportsIndex,
        access: collections.abc.Sequence[
            tuple[typing.SupportsInt | typing.SupportsIndex, typing.SupportsInt | typing.SupportsIndex]
        ],
    ) -> str: ...
    def mem_pool_set_attribute(
        self,
        pool: typing.SupportsInt | typing.SupportsIndex,
        attribute: typing.SupportsInt | typing.SupportsIndex,
        value: typing.SupportsInt | typing.SupportsIndex,
    ) -> str: ...
    def mem_pool_trim_to(
        self,
        pool: typing.SupportsInt | typing.SupportsIndex,
        bytes: typing.SupportsInt | typing.SupportsIndex,
    ) -> str: ...
    def mem_prefetch_async(
        self,
        pointer: typing.SupportsInt | typing.SupportsIndex,
        bytes: typing.SupportsInt | typing.SupportsIndex,
        location: tuple[typing.SupportsInt | typing.SupportsIndex, typing.SupportsInt | typing.SupportsIndex],
        flags: typing.SupportsInt | typing.SupportsIndex = 0,
        stream: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> str: ...
    def mem_range_get_attribute(
        self,
        pointer: typing.SupportsInt | typing.SupportsIndex,
        bytes: typing.SupportsInt | typing.SupportsIndex,
        attribute: typing.SupportsInt | typing.SupportsIndex,
        count: typing.SupportsInt | typing.SupportsIndex = 1,
    ) -> tuple[typing.Any, ...]: ...
    def memcpy(
        self,
        destination: typing.SupportsInt | typing.SupportsIndex,
        source: typing.SupportsInt | typing.SupportsIndex,
        bytes: typing.SupportsInt | typing.SupportsIndex,
        kind: typing.SupportsInt | typing.SupportsIndex = 4,
    ) -> str: ...
    def memcpy_2d(
        self,
        destination: typing.SupportsInt | typing.SupportsIndex,
        destination_pitch: typing.SupportsInt | typing.SupportsIndex,
        source: typing.SupportsInt | typing.SupportsIndex,
        source_pitch: typing.SupportsInt | typing.SupportsIndex,
        width: typing.SupportsInt | typing.SupportsIndex,
        height: typing.SupportsInt | typing.SupportsIndex,
        kind: typing.SupportsInt | typing.SupportsIndex = 4,
    ) -> str: ...
    def memcpy_2d_async(
        self,
        destination: typing.SupportsInt | typing.SupportsIndex,
        destination_pitch: typing.SupportsInt | typing.SupportsIndex,
        source: typing.SupportsInt | typing.SupportsIndex,
        source_pitch: typing.SupportsInt | typing.SupportsIndex,
        width: typing.SupportsInt | typing.SupportsIndex,
        height: typing.SupportsInt | typing.SupportsIndex,
        kind: typing.SupportsInt | typing.SupportsIndex = 4,
        stream: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> str: ...
    def memcpy_3d(
        self,
        destination: Contract.Side,
        source: Contract.Side,
        extent: tuple[
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
        ],
        kind: typing.SupportsInt | typing.SupportsIndex = 4,
    ) -> str: ...
    def memcpy_3d_async(
        self,
        destination: Contract.Side,
        source: Contract.Side,
        extent: tuple[
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
        ],
        kind: typing.SupportsInt | typing.SupportsIndex = 4,
        stream: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> str: ...
    def memcpy_async(
        self,
        destination: typing.SupportsInt | typing.SupportsIndex,
        source: typing.SupportsInt | typing.SupportsIndex,
        bytes: typing.SupportsInt | typing.SupportsIndex,
        kind: typing.SupportsInt | typing.SupportsIndex = 4,
        stream: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> str: ...
    def memcpy_batch_async(
        self,
        destinations: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        sources: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        sizes: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        source_access_order: typing.SupportsInt | typing.SupportsIndex = 1,
        stream: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> str: ...
    def memcpy_peer(
        self,
        destination: typing.SupportsInt | typing.SupportsIndex,
        destination_device: typing.SupportsInt | typing.SupportsIndex,
        source: typing.SupportsInt | typing.SupportsIndex,
        source_device: typing.SupportsInt | typing.SupportsIndex,
        bytes: typing.SupportsInt | typing.SupportsIndex,
    ) -> str: ...
    def memcpy_peer_async(
        self,
        destination: typing.SupportsInt | typing.SupportsIndex,
        destination_device: typing.SupportsInt | typing.SupportsIndex,
        source: typing.SupportsInt | typing.SupportsIndex,
        source_device: typing.SupportsInt | typing.SupportsIndex,
        bytes: typing.SupportsInt | typing.SupportsIndex,
        stream: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> str: ...
    def memset(
        self,
        pointer: typing.SupportsInt | typing.SupportsIndex,
        value: typing.SupportsInt | typing.SupportsIndex,
        bytes: typing.SupportsInt | typing.SupportsIndex,
    ) -> str: ...
    def memset_2d(
        self,
        pointer: typing.SupportsInt | typing.SupportsIndex,
        pitch: typing.SupportsInt | typing.SupportsIndex,
        value: typing.SupportsInt | typing.SupportsIndex,
        width: typing.SupportsInt | typing.SupportsIndex,
        height: typing.SupportsInt | typing.SupportsIndex,
    ) -> str: ...
    def memset_2d_async(
        self,
        pointer: typing.SupportsInt | typing.SupportsIndex,
        pitch: typing.SupportsInt | typing.SupportsIndex,
        value: typing.SupportsInt | typing.SupportsIndex,
        width: typing.SupportsInt | typing.SupportsIndex,
        height: typing.SupportsInt | typing.SupportsIndex,
        stream: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> str: ...
    def memset_3d(
        self,
        pitched: tuple[
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
        ],
        value: typing.SupportsInt | typing.SupportsIndex,
        extent: tuple[
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
        ],
    ) -> str: ...
    def memset_3d_async(
        self,
        pitched: tuple[
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
        ],
        value: typing.SupportsInt | typing.SupportsIndex,
        extent: tuple[
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
            typing.SupportsInt | typing.SupportsIndex,
        ],
        stream: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> str: ...
    def memset_async(
        self,
        pointer: typing.SupportsInt | typing.SupportsIndex,
        value: typing.SupportsInt | typing.SupportsIndex,
        bytes: typing.SupportsInt | typing.SupportsIndex,
        stream: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> str: ...
    def memset_d2d16_async(
        self,
        pointer: typing.SupportsInt | typing.SupportsIndex,
        pitch: typing.SupportsInt | typing.SupportsIndex,
        value: typing.SupportsInt | typing.SupportsIndex,
        width: typing.SupportsInt | typing.SupportsIndex,
        height: typing.SupportsInt | typing.SupportsIndex,
        stream: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> str: ...
    def memset_d2d32_async(
        self,
        pointer: typing.SupportsInt | typing.SupportsIndex,
        pitch: typing.SupportsInt | typing.SupportsIndex,
        value: typing.SupportsInt | typing.SupportsIndex,
        width: typing.SupportsInt | typing.SupportsIndex,
        height: typing.SupportsInt | typing.SupportsIndex,
        stream: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> str: ...
    def occupancy_available_dynamic_smem_per_block(
        self,
        kernel: typing.SupportsInt | typing.SupportsIndex,
        blocks: typing.SupportsInt | typing.SupportsIndex,
        block_size: typing.SupportsInt | typing.SupportsIndex,
    ) -> tuple[typing.Any, ...]: ...
    def occupancy_max_active_blocks_per_multiprocessor(
        self,
        kernel: typing.SupportsInt | typing.SupportsIndex,
        block_size: typing.SupportsInt | typing.SupportsIndex,
        dynamic_shared: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> tuple[typing.Any, ...]: ...
    def occupancy_max_active_blocks_per_multiprocessor_with_flags(
        self,
        kernel: typing.SupportsInt | typing.SupportsIndex,
        block_size: typing.SupportsInt | typing.SupportsIndex,
        dynamic_shared: typing.SupportsInt | typing.SupportsIndex = 0,
        flags: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> tuple[typing.Any, ...]: ...
    def occupancy_max_active_clusters(
        self,
        kernel: typing.SupportsInt | typing.SupportsIndex,
        grid: typing.SupportsInt
        | typing.SupportsIndex
        | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        block: typing.SupportsInt
        | typing.SupportsIndex
        | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        dynamic_shared: typing.SupportsInt | typing.SupportsIndex = 0,
        cluster: typing.SupportsInt
        | typing.SupportsIndex
        | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]
        | None = None,
        attributes: collections.abc.Sequence[dict[str, typing.Any]] = [],
    ) -> tuple[typing.Any, ...]: ...
    def occupancy_max_potential_block_size(
        self,
        kernel: typing.SupportsInt | typing.SupportsIndex,
        dynamic_shared: typing.SupportsInt | typing.SupportsIndex = 0,
        block_size_limit: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> tuple[typing.Any, ...]: ...
    def occupancy_max_potential_cluster_size(
        self,
        kernel: typing.SupportsInt | typing.SupportsIndex,
        grid: typing.SupportsInt
        | typing.SupportsIndex
        | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        block: typing.SupportsInt
        | typing.SupportsIndex
        | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        dynamic_shared: typing.SupportsInt | typing.SupportsIndex = 0,
        cluster: typing.SupportsInt
        | typing.SupportsIndex
        | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]
        | None = None,
        attributes: collections.abc.Sequence[dict[str, typing.Any]] = [],
    ) -> tuple[typing.Any, ...]: ...
    def peek_at_last_error(self) -> str: ...
    def pointer_get_attributes(
        self, pointer: typing.SupportsInt | typing.SupportsIndex
    ) -> tuple[typing.Any, ...]: ...
    def runtime_get_version(self) -> tuple[typing.Any, ...]: ...
    def set_device(self, device: typing.SupportsInt | typing.SupportsIndex) -> str: ...
    def set_device_flags(self, flags: typing.SupportsInt | typing.SupportsIndex) -> str: ...
    def signal_external_semaphores_async(
        self,
        semaphores: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        count: typing.SupportsInt | typing.SupportsIndex,
        stream: typing.SupportsInt | typing.SupportsIndex,
    ) -> str: ...
    def simulated(self) -> bool: ...
    def stream_add_callback(
        self,
        stream: typing.SupportsInt | typing.SupportsIndex,
        flags: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> str: ...
    def stream_batch_mem_op(
        self,
        stream: typing.SupportsInt | typing.SupportsIndex,
        operations: collections.abc.Sequence[
            tuple[
                typing.SupportsInt | typing.SupportsIndex,
                typing.SupportsInt | typing.SupportsIndex,
                typing.SupportsInt | typing.SupportsIndex,
                typing.SupportsInt | typing.SupportsIndex,
            ]
        ],
        flags: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> str: ...
    def stream_begin_capture(
        self,
        stream: typing.SupportsInt | typing.SupportsIndex,
        mode: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> str: ...
    def stream_begin_capture_to_graph(
        self,
        stream: typing.SupportsInt | typing.SupportsIndex,
        graph: typing.SupportsInt | typing.SupportsIndex,
        after: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] = (),
        mode: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> str: ...
    def stream_copy_attributes(
        self,
        destination: typing.SupportsInt | typing.SupportsIndex,
        source: typing.SupportsInt | typing.SupportsIndex,
    ) -> str: ...
    def stream_create_with_priority(
        self,
        flags: typing.SupportsInt | typing.SupportsIndex = 0,
        priority: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> tuple[typing.Any, ...]: ...
    def stream_destroy(self, stream: typing.SupportsInt | typing.SupportsIndex) -> str: ...
    def stream_end_capture(
        self, stream: typing.SupportsInt | typing.SupportsIndex
    ) -> tuple[typing.Any, ...]: ...
    def stream_get_attribute(
        self, stream: typing.SupportsInt | typing.SupportsIndex, id: typing.SupportsInt | typing.SupportsIndex
    ) -> tuple[typing.Any, ...]: ...
    def stream_get_capture_info(
        self, stream: typing.SupportsInt | typing.SupportsIndex
    ) -> tuple[typing.Any, ...]: ...
    def stream_get_device(
        self, stream: typing.SupportsInt | typing.SupportsIndex
    ) -> tuple[typing.Any, ...]: ...
    def stream_get_flags(
        self, stream: typing.SupportsInt | typing.SupportsIndex
    ) -> tuple[typing.Any, ...]: ...
    def stream_get_id(self, stream: typing.SupportsInt | typing.SupportsIndex) -> tuple[typing.Any, ...]: ...
    def stream_get_priority(
        self, stream: typing.SupportsInt | typing.SupportsIndex
    ) -> tuple[typing.Any, ...]: ...
    def stream_is_capturing(
        self, stream: typing.SupportsInt | typing.SupportsIndex
    ) -> tuple[typing.Any, ...]: ...
    def stream_query(self, stream: typing.SupportsInt | typing.SupportsIndex) -> str: ...
    def stream_set_attribute(
        self,
        stream: typing.SupportsInt | typing.SupportsIndex,
        id: typing.SupportsInt | typing.SupportsIndex,
        values: dict[str, typing.Any],
    ) -> str: ...
    def stream_synchronize(self, stream: typing.SupportsInt | typing.SupportsIndex) -> str: ...
    def stream_update_capture_dependencies(
        self,
        stream: typing.SupportsInt | typing.SupportsIndex,
        dependencies: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        flags: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> str: ...
    def stream_wait_event(
        self,
        stream: typing.SupportsInt | typing.SupportsIndex,
        event: typing.SupportsInt | typing.SupportsIndex,
        flags: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> str: ...
    def stream_wait_value_32(
        self,
        stream: typing.SupportsInt | typing.SupportsIndex,
        address: typing.SupportsInt | typing.SupportsIndex,
        value: typing.SupportsInt | typing.SupportsIndex,
        flags: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> str: ...
    def stream_wait_value_64(
        self,
        stream: typing.SupportsInt | typing.SupportsIndex,
        address: typing.SupportsInt | typing.SupportsIndex,
        value: typing.SupportsInt | typing.SupportsIndex,
        flags: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> str: ...
    def stream_write_value_32(
        self,
        stream: typing.SupportsInt | typing.SupportsIndex,
        address: typing.SupportsInt | typing.SupportsIndex,
        value: typing.SupportsInt | typing.SupportsIndex,
        flags: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> str: ...
    def stream_write_value_64(
        self,
        stream: typing.SupportsInt | typing.SupportsIndex,
        address: typing.SupportsInt | typing.SupportsIndex,
        value: typing.SupportsInt | typing.SupportsIndex,
        flags: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> str: ...
    def thread_exchange_stream_capture_mode(
        self, mode: typing.SupportsInt | typing.SupportsIndex
    ) -> tuple[typing.Any, ...]: ...
    def wait_external_semaphores_async(
        self,
        semaphores: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        count: typing.SupportsInt | typing.SupportsIndex,
        stream: typing.SupportsInt | typing.SupportsIndex,
    ) -> str: ...

class FaultDevice:
    """
    A device whose calls can be made to fail.
    """
    def __init__(self, name: str) -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Raises TypeError. The message says why it cannot be pickled, and an alternative.
        """
    def calls(self, call: str) -> int:
        """
        How often a method was called.
        """
    def clear(self) -> None:
        """
        Forget the faults and the counts.
        """
    def fail(self, call: str, nth: typing.SupportsInt | typing.SupportsIndex, status: str) -> None:
        """
        Let the nth call of a method from now on fail, once.
        """
    @property
    def device(self) -> Device: ...

class PendingReason:
    """
    The reason why a command waits: a kind, for programs, and a text, for the user.

    Examples
    --------
    >>> import cuscope as cs
    >>> with cs.Device("host:0"):
    ...     stream, flag = cs.Stream(), cs.pinned_empty(1, "u4")
    ...     flag[0] = 0
    ...     stream.wait_value(flag, 1)
    ...     cs.host_work(1e-3)  # the device starts the wait
    ...     print(cs.pending(cs.current_device())[0].reasons[0].kind)
    ...     flag[0] = 1
    ...     stream.synchronize()
    value
    """
    def __copy__(self) -> typing.Any:
        """
        Returns the object itself, because it never changes.
        """
    def __deepcopy__(self, memo: typing.Any) -> typing.Any:
        """
        Returns the object itself, because it never changes.
        """
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Raises TypeError. The message says why it cannot be pickled, and an alternative.
        """
    def __repr__(self) -> str: ...
    @property
    def kind(self) -> str:
        """
        The kind of the reason: ``'order'`` (earlier work of its stream), ``'default_stream'``, ``'event'``,
        ``'graph'``, ``'queue'`` (of the device), ``'engine'``, ``'multiprocessors'``, ``'value'`` (a number in memory),
        ``'semaphore'``, ``'host_function'``, ``'kernel'`` (a kernel that spins) or ``'simulation'``.
        """
    @property
    def text(self) -> str:
        """
        The reason as text, with names and numbers.
        """

class PendingWork:
    """
    A command in flight: an item of cs.pending().

    Examples
    --------
    >>> import cuscope as cs
    >>> with cs.Device("host:0"):
    ...     stream = cs.Stream()
    ...     x = cs.zeros(1024, "f4", stream=stream)
    ...     work = [work for work in cs.pending(cs.current_device()) if "memset" in work.what]
    ...     print(work[-1].what)
    ...     stream.synchronize()
    memset of 4 KiB
    """
    def __copy__(self) -> typing.Any:
        """
        Returns the object itself, because it never changes.
        """
    def __deepcopy__(self, memo: typing.Any) -> typing.Any:
        """
        Returns the object itself, because it never changes.
        """
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Raises TypeError. The message says why it cannot be pickled, and an alternative.
        """
    def __repr__(self) -> str: ...
    @property
    def device(self) -> str:
        """
        The device's name: ``'host:0'``.
        """
    @property
    def position(self) -> int:
        """
        The position in its stream: 1 is the oldest command in flight; 0: a node of a graph.
        """
    @property
    def reasons(self) -> list[PendingReason]:
        """
        The reasons why it waits, as PendingReason objects.
        """
    @property
    def state(self) -> str:
        """
        The state: ``'ready'``, ``'running'``, ``'waiting'`` or, on a GPU, ``'unknown'``.
        """
    @property
    def stream(self) -> str:
        """
        The stream's name, as in its repr: ``'Stream #2'``.
        """
    @property
    def what(self) -> str:
        """
        The command: ``'copy of 4 KiB, host to device'``, ``'kernel add<<<4, 256>>>'``.
        """

class Pending:
    """
    The commands in flight: a sequence of PendingWork that prints as a table.

    Examples
    --------
    >>> import cuscope as cs
    >>> cs.synchronize()
    >>> cs.pending(cs.current_device())
    nothing is in flight
    """
    def __copy__(self) -> typing.Any:
        """
        Returns the object itself, because it never changes.
        """
    def __deepcopy__(self, memo: typing.Any) -> typing.Any:
        """
        Returns the object itself, because it never changes.
        """
    def __getitem__(self, index: typing.SupportsInt | typing.SupportsIndex) -> PendingWork: ...
    def __iter__(self) -> collections.abc.Iterator[PendingWork]: ...
    def __len__(self) -> int: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Raises TypeError. The message says why it cannot be pickled, and an alternative.
        """
    def __repr__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    @property
    def roots(self) -> list[str]:
        """
        The causes at the ends of all chains of waiting: conditions that no command in flight will fulfil.
        """

def add_host_device(model: str = "h200") -> Device:
    """
    Add a simulated device of a named model, such as 'h200' or 'fermi'; returns it.

    From now on devices() lists it, until the process ends. Raises ValueError for an unknown model; the message lists the
    models. CUDA has no such function: docs/simulation.md explains models.

    >>> import cuscope as cs
    >>> cs.add_host_device("h200").model
    'h200 model'
    """

def as_stream(
    object: Stream | cuscope._protocols.CudaStream | None, *, device: Device | None = None
) -> Stream:
    """
    A stream of another library as a Stream, which keeps the object alive. A Stream is returned unchanged.

    If the handle belongs to one of cuscope's own streams, the result is equal to that Stream; closing the result leaves that
    Stream open.

    Takes objects with __cuda_stream__ (or PyTorch's cuda_stream). You need not call it for an argument `stream`, which takes
    such objects too. Handles of default streams mean the default streams of ``device`` (default: the current device). Raises
    TypeError for other objects, CudaError for an unknown handle of a simulated device.

    >>> import cuscope as cs
    >>> stream = cs.Stream()
    >>> cs.as_stream(stream) is stream
    True
    """

def asarray(
    object: typing.Any,
    *,
    copy: typing.Any = None,
    stream: Stream | cuscope._protocols.CudaStream | None = None,
) -> DeviceArray:
    """
    Any array as a DeviceArray: without a copy if it is in a device's memory, else copied as by to_device().

    Takes objects with __cuda_array_interface__ or __dlpack__ (CuPy, PyTorch, JAX, Numba, ...) and NumPy arrays. The object
    stays alive until all streams that used the result have finished with it. All streams that use the result wait for the
    work that the other library had enqueued. A DeviceArray is returned unchanged.

    Parameters
    ----------
    object : array
        An array of any library.
    copy : bool, optional
        True: always copy; False: never copy.
    stream : Stream, optional
        The stream that DLPack prepares the array for, and in which a copy is made. Default: the current one.

    Raises
    ------
    ValueError, TypeError, BufferError
        The object does not describe an array that a device can reach; or copy=False for an array on the host.

    Examples
    --------
    >>> import numpy as np, cuscope as cs
    >>> x = cs.asarray(np.arange(3))
    >>> cs.asarray(x) is x
    True
    """

def cache_description() -> str:
    """
    The folder of compiled kernels, or why there is none.
    """

def can_hold_result(out: DeviceArray, operands: list[DeviceArray]) -> bool:
    """
    Can a kernel write its result here? True if it is in C order and does not overlap the operands.
    """

def clock() -> float:
    """
    The host's time in seconds, as the runtime of the current device measures it.

    It is simulated on a simulated device, and the monotonic clock on a GPU, so one program can time itself on both. Only
    differences have a meaning. To time work on the device, use events: see Event.

    >>> import cuscope as cs
    >>> begin = cs.clock()
    >>> cs.host_work(0.001)
    >>> cs.clock() - begin >= 0.001
    True
    """

def contract(device: str) -> Contract:
    """
    The contract of a device's runtime.
    """

def convert(
    array: DeviceArray, dtype: numpy.typing.DTypeLike, stream: Stream | cuscope._protocols.CudaStream | None
) -> DeviceArray:
    """
    A copy in C order, of another dtype.
    """

def copy_batch(
    copies: collections.abc.Iterable[tuple[typing.Any, typing.Any]],
    *,
    stream: Stream | cuscope._protocols.CudaStream | None = None,
) -> None:
    """
    Enqueue many copies in one call: pairs (destination, source) of contiguous arrays of equal size in bytes.

    The copies are not ordered among each other; later commands of the stream wait for all of them. You may change pageable
    sources as soon as this returns; it waits if a destination is pageable. See cudaMemcpyBatchAsync.

    >>> import numpy as np, cuscope as cs
    >>> a, b = cs.empty(2), cs.empty(3)
    >>> with cs.Stream():
    ...     cs.copy_batch([(a, np.ones(2, np.float32)), (b, np.zeros(3, np.float32))])
    >>> cs.synchronize()
    >>> a.to_host()
    array([1., 1.], dtype=float32)
    """

def current_device() -> Device:
    """
    The current device of this thread.

    It is the device of the innermost ``with``, else the one that you passed to set_device(), else the one that the
    environment variable CUSCOPE_DEVICE names, else the first of devices(). Raises ValueError if CUSCOPE_DEVICE names no
    device. See cudaGetDevice: CUDA C++ Programming Guide, "Device Selection".

    >>> import cuscope as cs
    >>> cs.current_device() in cs.devices()
    True
    """

def current_stream() -> Stream:
    """
    The current stream of this thread: the one of the innermost ``with`` on the current device, else the
    device's legacy default stream.

    See CUDA C++ Programming Guide, "Default Stream".

    >>> import cuscope as cs
    >>> with cs.Stream() as stream:
    ...     cs.current_stream() is stream
    True
    """

def device_view(array: numpy.typing.NDArray[typing.Any], *, device: Device | None = None) -> DeviceArray:
    """
    A page-locked NumPy array as a device array over the same memory, which kernels access over the bus.

    The memory lives as long as the view. Raises TypeError for pageable memory, ValueError for memory that is not
    mapped. See cudaHostGetDevicePointer: CUDA C++ Programming Guide, "Mapped Memory".

    >>> import numpy as np, cuscope as cs
    >>> h = cs.pinned_empty(2, np.int32, mapped=True)
    >>> cs.device_view(h).fill(7)
    >>> cs.synchronize()
    >>> h
    array([7, 7], dtype=int32)
    """

def devices() -> list[Device]:
    """
    All devices: GPUs first, then the simulated ones. Never raises: without a driver there are no GPUs.

    See cudaGetDeviceCount: CUDA C++ Programming Guide, "Device Enumeration".

    >>> import cuscope as cs
    >>> cs.Device("host:0") in cs.devices()
    True
    """

def empty(
    shape: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex],
    dtype: numpy.typing.DTypeLike = ...,
    *,
    stream: Stream | cuscope._protocols.CudaStream | None = None,
) -> DeviceArray:
    """
    A new array on the current device, or on the stream's. Its elements are not initialised.

    Parameters
    ----------
    shape : int or tuple of int
        The extent of each axis, 0 or more.
    dtype : dtype
        The type of the elements: a numeric or structured one.
    stream : Stream, optional
        The stream in which the memory is allocated. Default: the current one.

    Raises
    ------
    TypeError, ValueError
        A dtype that kernels do not support; a negative or impossible shape.
    OutOfMemoryError
        The device does not have that much memory left.

    See cudaMallocAsync: CUDA C++ Programming Guide, "Device Memory" and "Stream Ordered Memory Allocator".

    Examples
    --------
    >>> import cuscope as cs
    >>> cs.empty((2, 3)).shape
    (2, 3)
    """

def empty_managed(
    shape: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex],
    dtype: numpy.typing.DTypeLike = ...,
    *,
    device: Device | None = None,
) -> DeviceArray:
    """
    A new array in managed memory, which the host and the device use at the same address.

    host_view() is a NumPy array over the same memory; synchronize before you read the results of a kernel. Use prefetch()
    and advise() to control where the pages are. Raises the errors of empty(). See cudaMallocManaged: CUDA C++ Programming
    Guide, "Unified Memory Programming".

    >>> import cuscope as cs
    >>> x = cs.empty_managed(2)
    >>> x.fill(3)
    >>> cs.synchronize()
    >>> x.host_view()
    array([3., 3.], dtype=float32)
    """

def empty_pitched(
    shape: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex],
    dtype: numpy.typing.DTypeLike = ...,
    *,
    device: Device | None = None,
) -> DeviceArray:
    """
    A new array of 2 or 3 axes with rows that are aligned as the device prefers.

    Rows are `pitch` bytes apart, which is at least the size of a row. Copies to and from other arrays take the pitch into
    account; pass it to kernels as a parameter. Raises the errors of empty(). See cudaMallocPitch, cudaMalloc3D: CUDA C++
    Programming Guide, "Device Memory".

    >>> import cuscope as cs
    >>> x = cs.empty_pitched((4, 100))
    >>> x.strides == (x.pitch, 4), x.pitch >= 400
    (True, True)
    """

def empty_plain(
    shape: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex],
    dtype: numpy.typing.DTypeLike = ...,
    *,
    device: Device | None = None,
) -> DeviceArray:
    """
    A new array in memory of its own, from cudaMalloc: not from a pool, and not in stream order.

    The allocation takes tens of microseconds, and the memory is freed once the device is idle. Takes the parameters of
    empty() and raises the same errors. See cudaMalloc, cudaFree: CUDA C++ Programming Guide, "Device Memory".

    >>> import cuscope as cs
    >>> cs.empty_plain(3).pointer % 256
    0
    """

def exchange_capture_mode(mode: str) -> str:
    """
    Set which captures refuse unsafe calls of this thread; returns the mode before.

    'global', the mode in which threads begin: captures of this thread, and of other threads that began them as 'global';
    'thread_local': only captures of this thread; 'relaxed': none. A capture that was begun as 'relaxed' never refuses
    calls. Allocations, for example, are unsafe. See cudaThreadExchangeStreamCaptureMode.

    >>> import cuscope as cs
    >>> cs.exchange_capture_mode("relaxed")
    'global'
    >>> cs.exchange_capture_mode("global")
    'relaxed'
    """

def explain_matmul(
    device: Device,
    dtype: str,
    rows: typing.SupportsInt | typing.SupportsIndex,
    columns: typing.SupportsInt | typing.SupportsIndex,
    depth: typing.SupportsInt | typing.SupportsIndex,
    batch: typing.SupportsInt | typing.SupportsIndex,
) -> tuple[str, str]:
    """
    The variant that auto would take, and the reason.
    """

def explain_reduce(
    device: Device,
    op: str,
    dtype: str,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    axes: tuple[int, ...],
) -> tuple[str, str]:
    """
    The variant that auto would take, and the reason.
    """

def from_dlpack(
    object: typing.Any,
    *,
    device: Device | None = None,
    copy: typing.Any = None,
    stream: Stream | cuscope._protocols.CudaStream | None = None,
) -> DeviceArray:
    """
    An array of another library by DLPack, without a copy if it is in a device's memory.

    Parameters
    ----------
    object : array or capsule
        An object with __dlpack__ and __dlpack_device__. A capsule has no information about streams: order them yourself.
    device : Device, optional
        The device of the result. Default: where the array is; for an array on the host, the current device.
    copy : bool, optional
        True: always copy; False: never copy.
    stream : Stream, optional
        The stream that the other library prepares its array for; other streams wait for it. Default: the current one.

    Raises
    ------
    BufferError
        An array on a device that cuscope does not know, with elements that NumPy does not support, from another major
        version of DLPack, or one that must be copied although copy=False.
    ValueError
        A capsule that has been consumed already.

    Examples
    --------
    >>> import numpy as np, cuscope as cs
    >>> cs.from_dlpack(np.arange(3)).to_host()
    array([0, 1, 2])
    """

def full(
    shape: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex],
    value: typing.Any,
    dtype: numpy.typing.DTypeLike | None = None,
    *,
    stream: Stream | cuscope._protocols.CudaStream | None = None,
) -> DeviceArray:
    """
    A new array filled with one value. The dtype is the value's own, as NumPy sees it, unless you pass one.

    Raises the errors of empty() and of DeviceArray.fill(). See cudaMemsetAsync.

    >>> import numpy as np, cuscope as cs
    >>> cs.full(2, 1.5, np.float32).to_host()
    array([1.5, 1.5], dtype=float32)
    """

def host_work(seconds: typing.SupportsFloat | typing.SupportsIndex) -> None:
    """
    Spend host time, as clock() measures it: the simulated host is busy for that many seconds.

    On a GPU the calling thread sleeps that long. Raises ValueError for less than 0 or more than 1e9.

    >>> import cuscope as cs
    >>> cs.host_work(1e-6)
    """

def launch_dot(
    x: DeviceArray, y: DeviceArray, out: DeviceArray, stream: Stream | cuscope._protocols.CudaStream | None
) -> tuple[str, str]:
    """
    Enqueues out = sum(x * y) of two vectors; returns the variant that was taken, and the reason.
    """

def launch_matmul(
    a: DeviceArray,
    b: DeviceArray,
    out: DeviceArray,
    variant: str,
    stream: Stream | cuscope._protocols.CudaStream | None,
) -> tuple[str, str]:
    """
    Enqueues out = a @ b; returns the variant that was taken, and the reason.
    """

def launch_reduce(
    op: str,
    array: DeviceArray,
    axes: tuple[int, ...],
    out: DeviceArray,
    variant: str,
    stream: Stream | cuscope._protocols.CudaStream | None,
) -> tuple[str, str]:
    """
    Enqueues out = op(array) over the axes; returns the variant that was taken, and the reason.
    """

def live() -> dict[str, int]:
    """
    The numbers of live objects, for tests that look for leaks.
    """

def matmul_instances() -> list[tuple[str, int, int, int]]:
    """
    Each kernel, its tile's rows and columns, and how many blocks a multiprocessor holds.
    """

def matmul_variants(device: Device) -> list[tuple[str, str, str]]:
    """
    Name, needs and idea of each variant.
    """

def pending(device: Device | None = None) -> Pending:
    """
    The commands in flight and the reasons why they wait: of one device, or of all that were used.

    On a simulated device the answer is exact. A GPU does not report its progress: for it you see the last commands that this
    package enqueued, and the progress that can be found out without waiting. The call waits for nothing and changes nothing
    (no simulated time passes, and captures go on); you may call it from any thread while others wait. If nothing begins or
    ends during ten seconds of a wait, a warning shows this table (cs.PendingWarning). See docs/concurrency.md.

    CUDA has no such function; see cudaStreamQuery: CUDA C++ Programming Guide, "Explicit Synchronization".

    >>> import cuscope as cs
    >>> with cs.Device("host:0"):
    ...     stream, done = cs.Stream(), cs.pinned_empty(1, "u4")
    ...     stream.write_value(done, 1)
    ...     len(cs.pending(cs.current_device()))
    ...     stream.synchronize()
    1
    """

def pinned_empty(
    shape: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex],
    dtype: numpy.typing.DTypeLike = ...,
    *,
    portable: bool = False,
    mapped: bool = False,
    write_combined: bool = False,
    device: Device | None = None,
) -> numpy.typing.NDArray[typing.Any]:
    """
    A NumPy array in page-locked memory. Its elements are not initialised.

    Copies between it and a device are asynchronous. It stays alive until they have ended, even if you drop it. Its views
    are page-locked too.

    Parameters
    ----------
    shape : int or tuple of int
        The extent of each axis, 0 or more.
    dtype : dtype
        The type of the elements: a numeric or structured one.
    portable : bool
        Page-lock it for all devices of the runtime, not only for this one.
    mapped : bool
        Let kernels read and write it.
    write_combined : bool
        Makes writing by the host faster, and reading very slow.
    device : Device, optional
        Default: the current device.

    Raises
    ------
    TypeError, ValueError
        A dtype that kernels do not support; a negative or impossible shape.
    OutOfMemoryError
        The machine cannot page-lock that much memory.

    See cudaHostAlloc: CUDA C++ Programming Guide, "Page-Locked Host Memory", "Portable Memory", "Write-Combining Memory" and
    "Mapped Memory".

    Examples
    --------
    >>> import numpy as np, cuscope as cs
    >>> h = cs.pinned_empty((2, 4), np.int32)
    >>> h[:] = 3
    >>> cs.to_device(h[1]).to_host()
    array([3, 3, 3, 3], dtype=int32)
    """

def pointer_attributes(of: typing.Any, *, device: Device | None = None) -> PointerAttributes:
    """
    The kind of memory that an array or an address belongs to, and its addresses.

    `device` is the device to ask. Default: the array's own; for an address, the current one. See cudaPointerGetAttributes.

    >>> import numpy as np, cuscope as cs
    >>> cs.pointer_attributes(cs.empty(3)).type, cs.pointer_attributes(np.zeros(3)).type
    ('device', 'unregistered')
    """

def predict_matmul(
    device: Device,
    variant: str,
    dtype: str,
    rows: typing.SupportsInt | typing.SupportsIndex,
    columns: typing.SupportsInt | typing.SupportsIndex,
    depth: typing.SupportsInt | typing.SupportsIndex,
    batch: typing.SupportsInt | typing.SupportsIndex,
) -> int:
    """
    Nanoseconds on a simulated device; -1 if unknown.
    """

def predict_matmul_instance(
    device: Device,
    kernel: str,
    rows: typing.SupportsInt | typing.SupportsIndex,
    columns: typing.SupportsInt | typing.SupportsIndex,
    depth: typing.SupportsInt | typing.SupportsIndex,
) -> int:
    """
    The same for one of matmul_instances().
    """

def predict_reduction(
    device: Device,
    variant: str,
    elements: typing.SupportsInt | typing.SupportsIndex,
    element_bytes: typing.SupportsInt | typing.SupportsIndex,
) -> int:
    """
    Nanoseconds of one launch on a simulated device; -1 if unknown.
    """

def reduce_variants(device: Device) -> list[tuple[str, str, str]]:
    """
    Name, needs and idea of each variant.
    """

def register(
    array: typing.Any,
    *,
    portable: bool = False,
    mapped: bool = False,
    read_only: bool = False,
    device: Device | None = None,
) -> Registration:
    """
    Page-lock the memory of a NumPy array, so that copies of it are asynchronous.

    Parameters
    ----------
    array : numpy.ndarray
        An array of any strides. It stays alive as long as it is page-locked.
    portable : bool
        Page-lock it for all devices of the runtime, not only for this one.
    mapped : bool
        Let kernels use it: see device_view().
    read_only : bool
        Kernels only read it.
    device : Device, optional
        Default: the current device.

    Raises
    ------
    CudaError
        cudaErrorHostMemoryAlreadyRegistered: a part of the memory is page-locked already.

    See cudaHostRegister: CUDA C++ Programming Guide, "Page-Locked Host Memory".

    Examples
    --------
    >>> import numpy as np, cuscope as cs
    >>> a = np.arange(1000)
    >>> with cs.register(a):
    ...     x = cs.to_device(a)
    >>> int(x.to_host().sum())
    499500
    """

def runtime_answers() -> list[dict[str, typing.Any]]:
    """
    The answer of each runtime of this build to the question for its devices.
    """

def set_device(device: Device) -> None:
    """
    Make a device the current one of this thread; inside a ``with``, until you leave the block.

    See cudaSetDevice: CUDA C++ Programming Guide, "Device Selection".

    >>> import cuscope as cs
    >>> cs.set_device(cs.current_device())
    """

def status_name(number: typing.SupportsInt | typing.SupportsIndex) -> str:
    """
    The name of a cudaError_t by its number.
    """

def status_text(number: typing.SupportsInt | typing.SupportsIndex) -> str:
    """
    The text of a cudaError_t by its number.
    """

def synchronize(device: Device | None = None) -> None:
    """
    Wait until all work on a device is done. Default: the current device.

    See Device.synchronize and cudaDeviceSynchronize.

    >>> import cuscope as cs
    >>> cs.synchronize()
    """

def to_device(
    source: DeviceArray
    | numpy.typing.ArrayLike
    | cuscope._protocols.CudaArray
    | cuscope._protocols.DLPackArray,
    *,
    stream: Stream | cuscope._protocols.CudaStream | None = None,
) -> DeviceArray:
    """
    A new device array with the elements of a NumPy array, or of anything that NumPy can make an array of.

    It has the source's shape and dtype, and is always C-contiguous. If the source is page-locked, the copy is asynchronous
    and keeps the source alive until it has ended; you may change other memory as soon as this returns. A DeviceArray is
    copied too, also from another device. Raises TypeError for a dtype that kernels do not support, OutOfMemoryError. See
    cudaMemcpyAsync: CUDA C++ Programming Guide, "Device Memory".

    >>> import numpy as np, cuscope as cs
    >>> cs.to_device(np.arange(3)).to_host()
    array([0, 1, 2])
    """

def usual_hint(code: typing.SupportsInt | typing.SupportsIndex, call: str) -> str:
    """
    The usual hint for an error of this code and call.
    """

def zeros(
    shape: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex],
    dtype: numpy.typing.DTypeLike = ...,
    *,
    stream: Stream | cuscope._protocols.CudaStream | None = None,
) -> DeviceArray:
    """
    A new array of zeros, filled in stream order. Takes the parameters of empty() and raises the same errors.

    See cudaMemsetAsync.

    >>> import cuscope as cs
    >>> cs.zeros(2).to_host()
    array([0., 0.], dtype=float32)
    """

build_config: dict[str, str]
