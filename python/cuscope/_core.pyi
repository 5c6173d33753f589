"""
What cuscope is made of. Private: import cuscope instead.
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

    ``with device:`` makes it the current device of this thread. Devices are equal if they are the same device.

    Parameters
    ----------
    device : str or Device
        The name of a device that cuscope.devices() lists.

    Raises
    ------
    ValueError
        There is no such device; the message lists those there are.

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
        The device of this name, wherever it is asked for.
        """
    def __repr__(self) -> str: ...
    def attribute(self, name: typing.SupportsInt | typing.SupportsIndex | str) -> int:
        """
        One attribute, by its name or by its number in cudaDeviceAttr.

        Raises ValueError for a name that is not there (the message lists those there are), CudaError
        (cudaErrorInvalidValue) for such a number. See cudaDeviceGetAttribute.

        >>> import cuscope as cs
        >>> cs.current_device().attribute("warp_size")
        32
        """
    def can_access_peer(self, other: Device) -> bool:
        """
        Could kernels here use the memory of the other device? No device is a peer of itself.

        See cudaDeviceCanAccessPeer: CUDA C++ Programming Guide, "Peer-to-Peer Memory Access".

        >>> import cuscope as cs
        >>> device = cs.current_device()
        >>> device.can_access_peer(device)
        False
        """
    def disable_peer_access(self, other: Device) -> None:
        """
        Take back enable_peer_access().

        Raises CudaError (cudaErrorPeerAccessNotEnabled) if it was not enabled. See cudaDeviceDisablePeerAccess.
        """
    def enable_peer_access(self, other: Device) -> None:
        """
        Let kernels here use the memory of the other device: arrays of any kind, of all its pools.

        Raises CudaError if the devices cannot (cudaErrorPeerAccessUnsupported), or it was done before
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
        A limit, by its name; in bytes, unless it is a count.

        'stack_size' of a thread, 'printf_fifo_size' and 'malloc_heap_size' of what kernels print and allocate,
        'max_l2_fetch_granularity', 'persisting_l2_cache_size'; the counts 'dev_runtime_sync_depth' and
        'dev_runtime_pending_launch_count'. Raises ValueError for another name, CudaError (cudaErrorUnsupportedLimit) for one that
        the device does not have. See cudaDeviceGetLimit: CUDA C++ Programming Guide, "Call Stack".

        >>> import cuscope as cs
        >>> cs.current_device().limit("stack_size") > 0
        True
        """
    def memory_info(self) -> MemoryInfo:
        """
        The free and the total memory, in bytes.

        Memory of arrays that are gone counts as free once it was given back in stream order. See cudaMemGetInfo.

        >>> import cuscope as cs
        >>> info = cs.current_device().memory_info()
        >>> 0 < info.free <= info.total
        True
        """
    def reset(self) -> None:
        """
        Drop everything on the device.

        What was made on it before (arrays, streams, events, modules) can only be dropped: using it raises ValueError. An error
        that lost the device stays. See cudaDeviceReset: CUDA C++ Programming Guide, "Initialization".

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
        Let all of the second-level cache go back to normal: see AccessPolicyWindow.

        See cudaCtxResetPersistingL2Cache: CUDA C++ Programming Guide, "L2 Access Control".

        >>> import cuscope as cs
        >>> cs.current_device().reset_persisting_l2_cache()
        """
    def set_limit(self, name: str, value: typing.SupportsIndex) -> None:
        """
        Set a limit, in bytes; the device may round it up. It counts for kernels launched from now on.

        What kernels print and allocate is fixed once one that does was launched. Raises ValueError for another name or a negative
        value, CudaError for a value that the device does not have, or that comes too late (cudaErrorInvalidValue). See
        cudaDeviceSetLimit: CUDA C++ Programming Guide, "Call Stack".

        >>> import cuscope as cs
        >>> device = cs.current_device()
        >>> device.set_limit("stack_size", device.limit("stack_size"))
        """
    def synchronize(self) -> None:
        """
        Wait until all work on the device is done.

        Raises what a host function of any of its streams raised, and errors of the work itself. Ctrl-C ends the wait. See
        cudaDeviceSynchronize: CUDA C++ Programming Guide, "Explicit Synchronization".

        >>> import cuscope as cs
        >>> cs.current_device().synchronize()
        """
    @property
    def compute_capability(self) -> tuple[int, int]:
        """
        Which features it has, as (major, minor).
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
        The pool that arrays on this device come from; None sets the default one.

        See cudaDeviceGetMemPool, cudaDeviceSetMemPool.
        """
    @memory_pool.setter
    def memory_pool(self, arg1: typing.Any) -> None: ...
    @property
    def model(self) -> str:
        """
        What it is, or what is simulated.
        """
    @property
    def name(self) -> str:
        """
        Its name: "cuda:0", "host:0".
        """
    @property
    def ordinal(self) -> int:
        """
        Its number among the devices of its kind.
        """
    @property
    def per_thread_stream(self) -> Stream:
        """
        The default stream that each thread has of its own (cudaStreamPerThread). See CUDA C++ Programming
        Guide, "Default Stream".
        """
    @property
    def properties(self) -> DeviceProperties:
        """
        What the device is. See cudaGetDeviceProperties.
        """
    @property
    def simulated(self) -> bool:
        """
        Do its times come from a model?
        """
    @property
    def stream_priority_range(self) -> tuple[int, int]:
        """
        (least, greatest): the greatest priority is the smaller number. See cudaDeviceGetStreamPriorityRange.
        """

class Stream:
    """
    A queue of work for a device: what is put in runs in that order.

    ``with stream:`` makes it the current stream of this thread, and its device the current device. Nothing of what a
    stream is given has to be done when the call returns; synchronize() waits for it.

    Parameters
    ----------
    priority : int
        Smaller numbers go first; clamped to device.stream_priority_range.
    non_blocking : bool
        Do not wait for the legacy default stream, nor let it wait for this one.
    device : Device, optional
        The current device unless given.

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
        Says why pickle cannot take it, and what it can take.
        """
    def __repr__(self) -> str: ...
    def batch_mem_op(
        self, operations: collections.abc.Iterable[WriteValue | WaitValue | MemoryBarrier]
    ) -> None:
        """
        Enqueue memory operations, less than 256, that are done in order: cheaper than one by one.

        Parameters
        ----------
        operations : list of WriteValue, WaitValue and MemoryBarrier
            What is done.

        Raises ValueError for operations of another device, and too many. See cuStreamBatchMemOp: CUDA Driver API, "Stream Memory
        Operations".

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
        Begin to capture the stream; end_capture() gives the graph. capture() does both.

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
        Turn what is put in the stream into a graph: ``with stream.capture() as graph:``.

        Inside, the stream is the current one, and nothing of what it is given runs: kernels, copies, fills and host functions
        become nodes, each behind the one before. Other streams take part from when they wait for a captured one, and have to be
        waited for in turn before the end. Memory that is allocated inside is there at once, and is kept by the graph. The graph is
        there when the block has ended. If the block raises, the capture ends, and all streams are as before.

        Parameters
        ----------
        mode : str
            'global': other threads, too, may make no call that is not safe while something is captured; 'thread_local': only
            this thread may not; 'relaxed': all may.
        graph : Graph, optional
            Add to this graph instead of making one.
        after : GraphNode or list of GraphNode, optional
            With ``graph``: what the first node waits for.

        Raises CaptureError for what cannot be captured, at the call, and at the end where a call spoilt the capture. See
        cudaStreamBeginCapture: CUDA C++ Programming Guide, "Creating a Graph Using Stream Capture".

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
        Let the stream go: what it was given still runs. Closing twice is no error.

        Raises ValueError for a default stream. See cudaStreamDestroy: CUDA C++ Programming Guide, "Creation and Destruction".

        >>> import cuscope as cs
        >>> stream = cs.Stream()
        >>> stream.close()
        >>> stream.closed
        True
        """
    def copy_attributes(self, source: Stream) -> None:
        """
        Take over the attributes of another stream of the device.

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
        End the capture that was begun in the stream; returns the graph.

        Raises CaptureError if a call spoilt it, or streams that took part were not waited for; all streams are as before then.
        See cudaStreamEndCapture.

        >>> import cuscope as cs
        >>> stream = cs.Stream()
        >>> stream.begin_capture()
        >>> len(stream.end_capture().nodes)
        0
        """
    def free_async(self, array: DeviceArray) -> None:
        """
        Free what a node of a graph allocates, behind what the stream was given so far; in a capture by a node.

        Outside of captures it is for memory that a launch allocated and no node freed. Other memory need not be freed.

        Raises ValueError for an array whose memory is not a graph's, or that is only a part of it; CudaError for memory that is
        not allocated then. See cudaFreeAsync: CUDA C++ Programming Guide, "Graph Memory Nodes".

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
        Call something on the host when the stream gets here, on the runtime's own thread.

        The stream waits until it returns. What it raises is raised again by the next synchronisation of the stream. It
        may not call the runtime (cudaErrorNotPermitted). It and its arguments are kept until it has run. See
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
        In a capture: a node that allocates memory whenever the graph runs; returns an array over that memory.

        As ``Graph.add_alloc``, behind what the stream was given so far. (``cs.empty`` in a capture makes no node: its memory is
        there from then on.) The array is for what is captured behind this, until ``free_async``, and for the streams that the
        graph was launched in. A second launch before it was freed is refused, unless the executable was instantiated with
        ``auto_free_on_launch``.

        Raises ValueError for a stream that is not being captured, and for no bytes. See cudaMallocAsync: CUDA C++ Programming
        Guide, "Graph Memory Nodes".

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
        Is everything in the stream done? Does not wait, nor raise what a host function raised.

        See cudaStreamQuery: CUDA C++ Programming Guide, "Explicit Synchronization".

        >>> import cuscope as cs
        >>> cs.Stream().query()
        True
        """
    def record(self, event: Event | None = None) -> Event:
        """
        Record an event (a new one unless given) behind what the stream was given so far; returns it.

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
        Signal semaphores of another interface when the stream gets here.

        Parameters
        ----------
        semaphores : ExternalSemaphore, (ExternalSemaphore, int), or list of such
            Timeline semaphores come with the value that they are set to.

        Raises ValueError for a value too many or too few. See cudaSignalExternalSemaphoresAsync: CUDA C++ Programming Guide,
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

        Raises what a host function of the stream raised (one exception a call, oldest first), and errors of the work
        itself. Ctrl-C ends the wait. See cudaStreamSynchronize: CUDA C++ Programming Guide, "Explicit Synchronization".

        >>> import cuscope as cs
        >>> cs.current_stream().synchronize()
        """
    def update_capture_dependencies(
        self, nodes: GraphNode | collections.abc.Iterable[GraphNode] | None, *, replace: bool = False
    ) -> None:
        """
        Let the next node captured in the stream wait for these, too; or, with ``replace``, for nothing but these.

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
        Let the stream wait for an event, or for all that another stream was given so far.

        The calling thread does not wait. An event that was never recorded is not waited for. The event may belong to another
        device. A stream that waits for what is being captured takes part in the capture from then on. With ``external``, which
        is for streams that are being captured, the wait is a node of the graph: it waits, whenever the graph runs, for what the
        event was recorded behind by then. See cudaStreamWaitEvent: CUDA C++ Programming Guide, "Explicit Synchronization".

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
        Let the stream wait for semaphores of another interface: for the signal of binary ones, for a value of timelines.

        The calling thread does not wait. A semaphore that nobody signals holds the stream up for ever. Arguments are those of
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
        Let the stream wait until memory holds a number, whoever writes it: a stream, a kernel, the host.

        The calling thread does not wait. A number that nobody writes holds the stream up for ever, and whoever waits for it;
        Ctrl-C ends that wait. CUDA does not know of the order that is made so: where the writer is a stream of the same device,
        an event says the same and cannot lock up.

        Parameters
        ----------
        array : DeviceArray or numpy.ndarray
            As for write_value().
        value : int
            What the array's dtype holds.
        condition : str
            'geq': until array - value, as a signed number, is 0 or more (so that counters may wrap around); 'eq': until they are
            equal; 'and': until array & value is not 0; 'nor': until ~(array | value) is not 0.

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
        Write a number to memory when the stream gets here: a flag that others wait for.

        What the stream wrote before is visible to whoever sees the number.

        Parameters
        ----------
        array : DeviceArray or numpy.ndarray
            One integer of 4 or 8 bytes: of cs.empty_plain(), of a module's variable, or of page-locked memory. Devices do no such
            operations on memory of pools, which other arrays have, nor on managed memory.
        value : int
            What the array's dtype holds.

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
        A method that gives (0, handle), by which CUDA libraries take the stream; a simulated device's stream has no such attribute.
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
        The nodes that the next one captured in the stream waits for; none while it is not being captured.
        """
    @property
    def capture_id(self) -> int:
        """
        The runtime's number of the capture that the stream takes part in; 0 while it does in none.
        """
    @property
    def capture_status(self) -> str:
        """
        'active' while it is being captured, 'invalidated' once a call spoilt the capture, else 'none'.
        """
    @property
    def closed(self) -> bool:
        """
        Was it closed?
        """
    @property
    def device(self) -> Device:
        """
        The device that the stream belongs to.
        """
    @property
    def handle(self) -> int:
        """
        The cudaStream_t as an int: 1 and 2 for default streams, 0 for a closed one. Used again later.
        """
    @property
    def id(self) -> int:
        """
        The runtime's number for the stream, never used twice.
        """
    @property
    def mem_sync_domain(self) -> str:
        """
        Which domain the fences of its kernels are of: 'default' or 'remote'. See cudaStreamSetAttribute: CUDA C++ Programming Guide, "Memory Synchronization Domains".
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
        Its priority: smaller numbers go first. What is set counts for launches from now on, and is clamped to device.stream_priority_range. See cudaStreamSetAttribute.
        """
    @priority.setter
    def priority(self, arg1: typing.SupportsIndex) -> None: ...
    @property
    def synchronization_policy(self) -> str:
        """
        How the host waits for it: 'auto', 'spin', 'yield' or 'blocking_sync'. See cudaStreamSetAttribute.
        """
    @synchronization_policy.setter
    def synchronization_policy(self, arg1: str) -> None: ...

class Event:
    """
    A point in a stream: to wait for, and to take times between.

    ``stop - start`` are milliseconds, as a float.

    Parameters
    ----------
    timing : bool
        Can times be taken? Without, recording and waiting are cheaper.
    blocking_sync : bool
        Let synchronize() sleep instead of spin.
    device : Device, optional
        The current device unless given. Only its streams can record the event; those of others can wait for it.

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
        Says why pickle cannot take it, and what it can take.
        """
    def __repr__(self) -> str: ...
    def __sub__(self, start: Event) -> float:
        """
        The milliseconds from another event to this one; negative if it came later.

        Raises CudaError if either has not happened (cudaErrorNotReady), was not recorded or takes no times
        (cudaErrorInvalidResourceHandle), ValueError if they belong to two devices. See cudaEventElapsedTime: CUDA C++
        Programming Guide, "Elapsed Time".

        >>> import cuscope as cs
        >>> start, stop = cs.Event().record(), cs.Event().record()
        >>> stop.synchronize()
        >>> stop - start >= 0, start - stop <= 0
        (True, True)
        """
    def close(self) -> None:
        """
        Let the event go. Closing twice is no error. See cudaEventDestroy.

        >>> import cuscope as cs
        >>> event = cs.Event()
        >>> event.close()
        >>> event.closed
        True
        """
    def query(self) -> bool:
        """
        Has it happened? Does not wait. An event that was never recorded has happened. See cudaEventQuery.

        >>> import cuscope as cs
        >>> cs.Event().query()
        True
        """
    def record(
        self, stream: Stream | cuscope._protocols.CudaStream | None = None, *, external: bool = False
    ) -> Event:
        """
        Record the event behind what a stream was given so far; returns the event itself.

        The stream is the current one unless given. Recording again moves the event. Raises ValueError for a stream of another
        device. In a stream that is being captured the event stands for a place in the graph, which other streams may wait for to
        take part; with ``external`` it becomes a node that records the event whenever the graph runs. See cudaEventRecord: CUDA C++ Programming Guide, "Events".

        >>> import cuscope as cs
        >>> event = cs.Event().record()
        """
    def synchronize(self) -> None:
        """
        Wait until it has happened.

        Raises what a host function of the stream that it was recorded in raised, and errors of the work before it. Ctrl-C
        ends the wait. See cudaEventSynchronize: CUDA C++ Programming Guide, "Explicit Synchronization".

        >>> import cuscope as cs
        >>> cs.Event().record().synchronize()
        """
    @property
    def closed(self) -> bool:
        """
        Was it closed?
        """
    @property
    def device(self) -> Device:
        """
        The device that the event belongs to.
        """
    @property
    def handle(self) -> int:
        """
        The cudaEvent_t as an int; 0 for a closed event. Handles are used again for other events.
        """
    @property
    def timing(self) -> bool:
        """
        Can times be taken?
        """

class DeviceArray:
    """
    An array in the memory of a device; made by empty(), zeros(), full() and to_device().

    Slices and transposes share its memory. A stream that uses the array waits for its allocation, but
    not for what other streams do with it: events are for that. When the last array that shares it goes, the memory is
    freed in stream order, once the other streams that used it are past that. Copies and fills run
    in the current stream unless another is given.

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
        Refused: to_host() gives an array that has operators.
        """
    def __and__(self, other: typing.Any) -> typing.Any:
        """
        Refused: to_host() gives an array that has operators.
        """
    def __array__(self, *args: typing.Any, **kwargs: typing.Any) -> numpy.typing.NDArray[typing.Any]:
        """
        Refused: use to_host().
        """
    def __bool__(self) -> bool: ...
    def __complex__(self) -> bool: ...
    def __contains__(self, value: typing.Any) -> bool:
        """
        Refused: to_host() gives an array that can be searched.
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
        A DLPack capsule of the array, without a copy unless one is asked for.

        Parameters
        ----------
        stream : int, optional
            The handle of the consumer's stream, which waits for all that uses the array; None and 1 are the legacy default
            stream, 2 the per-thread one, -1 asks for no order.
        max_version : tuple of int, optional
            (1, 0) and later give a versioned capsule.
        dl_device : tuple of int, optional
            (1, 0) gives the elements on the host, once they are there: a copy unless the host reaches the memory.
        copy : bool, optional
            True: always a copy; False: never.

        Raises BufferError for what cannot be exported like that, ValueError for stream=0. See DLPack, "Python Specification".

        >>> import numpy as np, cuscope as cs
        >>> np.from_dlpack(cs.full(2, 1.5), device="cpu")
        array([1.5, 1.5])
        """
    def __dlpack_device__(self) -> tuple[int, ...]:
        """
        DLPack's (type, id) of the memory: 2 a GPU's, 3 page-locked, 13 managed, 12 that of a simulated device.

        >>> import cuscope as cs
        >>> cs.empty(1, stream=cs.Stream(device=cs.Device("host:0"))).__dlpack_device__()
        (12, 0)
        """
    def __eq__(self, other: typing.Any) -> typing.Any:
        """
        Refused: to_host() gives an array that has operators.
        """
    def __float__(self) -> bool: ...
    def __floordiv__(self, other: typing.Any) -> typing.Any:
        """
        Refused: to_host() gives an array that has operators.
        """
    def __ge__(self, other: typing.Any) -> typing.Any:
        """
        Refused: to_host() gives an array that has operators.
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
        A view of items and slices: the same memory, not a copy.

        Takes what NumPy's basic indexing takes: ints, slices with any step, ... and None. An item of an array with one axis is
        an array without axes.

        >>> import numpy as np, cuscope as cs
        >>> x = cs.zeros((3, 2))
        >>> x[1:] = 5
        >>> x[2] = np.array([1, 2], np.float32)
        >>> x.to_host().tolist()
        [[0.0, 0.0], [5.0, 5.0], [1.0, 2.0]]
        """
    def __gt__(self, other: typing.Any) -> typing.Any:
        """
        Refused: to_host() gives an array that has operators.
        """
    def __hash__(self) -> int: ...
    def __int__(self) -> bool: ...
    def __invert__(self) -> typing.Any:
        """
        Refused: to_host() gives an array that has operators.
        """
    def __iter__(self) -> collections.abc.Iterator[DeviceArray]: ...
    def __le__(self, other: typing.Any) -> typing.Any:
        """
        Refused: to_host() gives an array that has operators.
        """
    def __len__(self) -> int: ...
    def __lshift__(self, other: typing.Any) -> typing.Any:
        """
        Refused: to_host() gives an array that has operators.
        """
    def __lt__(self, other: typing.Any) -> typing.Any:
        """
        Refused: to_host() gives an array that has operators.
        """
    def __matmul__(self, other: typing.Any) -> typing.Any:
        """
        Refused: to_host() gives an array that has operators.
        """
    def __mod__(self, other: typing.Any) -> typing.Any:
        """
        Refused: to_host() gives an array that has operators.
        """
    def __mul__(self, other: typing.Any) -> typing.Any:
        """
        Refused: to_host() gives an array that has operators.
        """
    def __ne__(self, other: typing.Any) -> typing.Any:
        """
        Refused: to_host() gives an array that has operators.
        """
    def __neg__(self) -> typing.Any:
        """
        Refused: to_host() gives an array that has operators.
        """
    def __or__(self, other: typing.Any) -> typing.Any:
        """
        Refused: to_host() gives an array that has operators.
        """
    def __pos__(self) -> typing.Any:
        """
        Refused: to_host() gives an array that has operators.
        """
    def __pow__(self, other: typing.Any) -> typing.Any:
        """
        Refused: to_host() gives an array that has operators.
        """
    def __radd__(self, other: typing.Any) -> typing.Any:
        """
        Refused: to_host() gives an array that has operators.
        """
    def __rand__(self, other: typing.Any) -> typing.Any:
        """
        Refused: to_host() gives an array that has operators.
        """
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Says why pickle cannot take it, and what it can take.
        """
    def __repr__(self) -> str: ...
    def __rfloordiv__(self, other: typing.Any) -> typing.Any:
        """
        Refused: to_host() gives an array that has operators.
        """
    def __rlshift__(self, other: typing.Any) -> typing.Any:
        """
        Refused: to_host() gives an array that has operators.
        """
    def __rmatmul__(self, other: typing.Any) -> typing.Any:
        """
        Refused: to_host() gives an array that has operators.
        """
    def __rmod__(self, other: typing.Any) -> typing.Any:
        """
        Refused: to_host() gives an array that has operators.
        """
    def __rmul__(self, other: typing.Any) -> typing.Any:
        """
        Refused: to_host() gives an array that has operators.
        """
    def __ror__(self, other: typing.Any) -> typing.Any:
        """
        Refused: to_host() gives an array that has operators.
        """
    def __rpow__(self, other: typing.Any) -> typing.Any:
        """
        Refused: to_host() gives an array that has operators.
        """
    def __rrshift__(self, other: typing.Any) -> typing.Any:
        """
        Refused: to_host() gives an array that has operators.
        """
    def __rshift__(self, other: typing.Any) -> typing.Any:
        """
        Refused: to_host() gives an array that has operators.
        """
    def __rsub__(self, other: typing.Any) -> typing.Any:
        """
        Refused: to_host() gives an array that has operators.
        """
    def __rtruediv__(self, other: typing.Any) -> typing.Any:
        """
        Refused: to_host() gives an array that has operators.
        """
    def __rxor__(self, other: typing.Any) -> typing.Any:
        """
        Refused: to_host() gives an array that has operators.
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
        Fill a view, or copy an array of its shape and dtype into it, in the current stream.
        """
    def __sub__(self, other: typing.Any) -> typing.Any:
        """
        Refused: to_host() gives an array that has operators.
        """
    def __truediv__(self, other: typing.Any) -> typing.Any:
        """
        Refused: to_host() gives an array that has operators.
        """
    def __xor__(self, other: typing.Any) -> typing.Any:
        """
        Refused: to_host() gives an array that has operators.
        """
    def advise(self, advice: str, device: typing.Any = None) -> None:
        """
        Say how managed memory will be used.

        `advice` is 'read_mostly', 'preferred_location', 'accessed_by', or one of these after 'unset_'; `device` a Device or
        'host', the array's own device unless given. See cudaMemAdvise.

        >>> import cuscope as cs
        >>> x = cs.empty_managed(1000)
        >>> x.advise("read_mostly")
        >>> x.range_attributes["read_mostly"]
        True
        """
    def close(self) -> None:
        """
        Give up the memory; it is freed once no other array shares it and no stream uses it.

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

        Asynchronous from page-locked and device memory; other host memory may be changed once this returns. What is no array is
        made one of the array's dtype. Raises ValueError for another shape, TypeError for another dtype. See cudaMemcpyAsync:
        CUDA C++ Programming Guide, "Overlap of Data Transfer and Kernel Execution".

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

        Asynchronous to page-locked and device memory: the elements are there once the stream is synchronized. Other host
        memory is filled when this returns, whatever its strides. Raises TypeError for another dtype, ValueError for another shape or a
        read-only array. See cudaMemcpyAsync: CUDA C++ Programming Guide, "Overlap of Data Transfer and Kernel
        Execution".

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

        Raises TypeError for a value of another kind, OverflowError for one that is too large for the dtype. See
        cudaMemsetAsync.

        >>> import numpy as np, cuscope as cs
        >>> x = cs.empty(3, np.int16)
        >>> x.fill(-5)
        >>> x.to_host()
        array([-5, -5, -5], dtype=int16)
        """
    def host_view(self) -> numpy.typing.NDArray[typing.Any]:
        """
        A NumPy array over the same memory, where the host can reach it: managed memory, and device_view().

        Wait for the streams that write it before reading. Raises TypeError for other memory.

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
        Move the pages of managed memory to a Device, or to the 'host', in stream order; to its own device unless told.

        See cudaMemPrefetchAsync.

        >>> import cuscope as cs
        >>> x = cs.empty_managed(1000)
        >>> x.prefetch()
        >>> x.range_attributes["last_prefetch_location"] == x.device.name
        True
        """
    def ravel(self) -> DeviceArray:
        """
        All elements along one axis: reshape(-1).
        """
    def reshape(
        self, *args: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex]
    ) -> DeviceArray:
        """
        The same elements, in C order, in another shape; one extent may be -1.

        A view where there is one, as of every contiguous array; else a copy, in the current stream. Raises ValueError if the
        sizes differ.

        >>> import cuscope as cs
        >>> cs.empty(6).reshape(2, -1).shape
        (2, 3)
        """
    def to_host(
        self, *, out: typing.Any = None, stream: Stream | cuscope._protocols.CudaStream | None = None
    ) -> numpy.typing.NDArray[typing.Any]:
        """
        Copy to a NumPy array. Waits for the stream, and so raises what its host functions raised.

        A new array has the shape and dtype of this one and is C-contiguous; `out`, which is returned, has to have the same shape
        and dtype, and any strides. Ctrl-C ends the wait. See cudaMemcpyAsync: CUDA C++ Programming Guide, "Device Memory".

        >>> import cuscope as cs
        >>> cs.zeros(3).to_host()
        array([0., 0., 0.], dtype=float32)
        """
    def transpose(
        self, *args: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex]
    ) -> DeviceArray:
        """
        A view with the axes in another order; in reverse, unless an order is given.

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
        How NumPy sees memory that the host reaches, once all that uses it is done; other arrays have no such attribute.
        """
    @property
    def __cuda_array_interface__(self) -> dict[str, typing.Any]:
        """
        How CUDA libraries see the array, version 3: for a GPU's memory; a simulated device's array has no such attribute. The stream in it is ordered after all that uses the array when it is asked for.
        """
    @property
    def closed(self) -> bool:
        """
        Was it closed?
        """
    @property
    def device(self) -> Device:
        """
        The device whose memory this is.
        """
    @property
    def dtype(self) -> numpy.dtype[typing.Any]:
        """
        NumPy's type of an element.
        """
    @property
    def is_contiguous(self) -> bool:
        """
        Do the elements lie one after the other, in C order?
        """
    @property
    def itemsize(self) -> int:
        """
        How many bytes an element has.
        """
    @property
    def nbytes(self) -> int:
        """
        How many bytes the elements have.
        """
    @property
    def ndim(self) -> int:
        """
        How many axes there are.
        """
    @property
    def pitch(self) -> int:
        """
        The bytes from a row to the next.
        """
    @property
    def pointer(self) -> int:
        """
        The device address of the first element; 0 if there are none, or the array is closed.
        """
    @property
    def range_attributes(self) -> dict[str, typing.Any]:
        """
        What was advised and prefetched of managed memory, as a dict. See cudaMemRangeGetAttribute.
        """
    @property
    def read_only(self) -> bool:
        """
        May nothing write it? Only arrays of other libraries are.
        """
    @property
    def shape(self) -> tuple[int, ...]:
        """
        The extent of each axis.
        """
    @property
    def size(self) -> int:
        """
        How many elements there are.
        """
    @property
    def stream(self) -> Stream | None:
        """
        The stream in whose order the memory was allocated and is freed; None if the array is closed.
        """
    @property
    def strides(self) -> tuple[int, ...]:
        """
        The bytes from one element to the next along each axis.
        """

class DeviceProperties:
    """
    What a device is: the fields of cudaDeviceProp.

    Made by Device.properties. Sizes are bytes, clock rates kHz, bus widths bits; ``max_block_dim`` and ``max_grid_dim``
    are (x, y, z). What the fields do not hold, Device.attribute() tells.

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
        Itself, as nothing of it changes.
        """
    def __deepcopy__(self, memo: typing.Any) -> typing.Any:
        """
        Itself, as nothing of it changes.
        """
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Says why pickle cannot take it, and what it can take.
        """
    def __repr__(self) -> str: ...
    @property
    def async_engine_count(self) -> int:
        """
        How many copy engines work beside kernels.
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
        Can kernels run beside each other?
        """
    @property
    def concurrent_managed_access(self) -> bool:
        """
        Can the host and kernels use managed memory at the same time?
        """
    @property
    def cooperative_launch(self) -> bool:
        """
        Can all blocks of a grid wait for each other?
        """
    @property
    def host_register_read_only_supported(self) -> bool:
        """
        Can it be page-locked for reading only?
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
        The second-level cache, in bytes.
        """
    @property
    def managed_memory(self) -> bool:
        """
        Is there managed memory?
        """
    @property
    def max_block_dim(self) -> tuple[int, int, int]:
        """
        The most threads of a block along (x, y, z).
        """
    @property
    def max_blocks_per_multiprocessor(self) -> int:
        """
        The most blocks that a multiprocessor holds.
        """
    @property
    def max_grid_dim(self) -> tuple[int, int, int]:
        """
        The most blocks of a grid along (x, y, z).
        """
    @property
    def max_threads_per_block(self) -> int:
        """
        The most threads of a block.
        """
    @property
    def max_threads_per_multiprocessor(self) -> int:
        """
        The most threads that a multiprocessor holds.
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
        Is memory allocated in stream order, from pools?
        """
    @property
    def multiprocessor_count(self) -> int:
        """
        How many multiprocessors there are.
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
        The shared memory that a block may have without asking, in bytes.
        """
    @property
    def shared_memory_per_block_optin(self) -> int:
        """
        The shared memory that a block may have if its kernel asks (Kernel.max_dynamic_shared), in bytes.
        """
    @property
    def shared_memory_per_multiprocessor(self) -> int:
        """
        The shared memory of a multiprocessor, in bytes.
        """
    @property
    def stream_priorities_supported(self) -> bool:
        """
        Do priorities of streams count?
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
        Do the host and the device share one range of addresses?
        """
    @property
    def warp_size(self) -> int:
        """
        How many threads a warp has.
        """

class MemoryInfo:
    """
    The memory of a device, in bytes; unpacks as (free, total).

    Made by Device.memory_info(). See cudaMemGetInfo.

    >>> import cuscope as cs
    >>> free, total = cs.Device("host:0").memory_info()
    >>> free <= total
    True
    """
    def __copy__(self) -> typing.Any:
        """
        Itself, as nothing of it changes.
        """
    def __deepcopy__(self, memo: typing.Any) -> typing.Any:
        """
        Itself, as nothing of it changes.
        """
    def __iter__(self) -> collections.abc.Iterator[int]: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Says why pickle cannot take it, and what it can take.
        """
    def __repr__(self) -> str: ...
    @property
    def free(self) -> int:
        """
        What can still be allocated, in bytes.
        """
    @property
    def total(self) -> int:
        """
        All of it, in bytes.
        """

class AccessPolicyWindow:
    """
    A range of device memory whose accesses the second-level cache treats in a way of their own.

    For kernels launched with ``access_policy_window=``, or in a stream that has it. A simulated device checks it and has no
    other use for it.

    Parameters
    ----------
    array : DeviceArray or int
        The memory: an array, or an address, which needs ``nbytes``.
    nbytes : int, optional
        How many bytes from its begin; all of the array unless given. At most device.attribute(109).
    hit_ratio : float
        The share of the window's accesses that are hits, 0 to 1.
    hit : str
        What hits are: 'normal', 'streaming' or 'persisting'.
    miss : str
        What the others are: 'normal' or 'streaming'.

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
        Says why pickle cannot take it, and what it can take.
        """
    def __repr__(self) -> str: ...
    @property
    def base(self) -> int:
        """
        The address where it begins.
        """
    @property
    def hit(self) -> str:
        """
        What hits are.
        """
    @property
    def hit_ratio(self) -> float:
        """
        The share of its accesses that are hits.
        """
    @property
    def miss(self) -> str:
        """
        What the other accesses are.
        """
    @property
    def nbytes(self) -> int:
        """
        How many bytes it has.
        """

class PointerAttributes:
    """
    What is known of an address; made by pointer_attributes().

    See cudaPointerGetAttributes.

    >>> import cuscope as cs
    >>> x = cs.empty(3)
    >>> cs.pointer_attributes(x).device_pointer == x.pointer
    True
    """
    def __copy__(self) -> typing.Any:
        """
        Itself, as nothing of it changes.
        """
    def __deepcopy__(self, memo: typing.Any) -> typing.Any:
        """
        Itself, as nothing of it changes.
        """
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Says why pickle cannot take it, and what it can take.
        """
    def __repr__(self) -> str: ...
    @property
    def device(self) -> str | None:
        """
        The name of its device; None if it has none.
        """
    @property
    def device_pointer(self) -> int:
        """
        The address by which kernels of the asked device know it; 0 if they do not, as with memory of a peer without Device.enable_peer_access().
        """
    @property
    def host_pointer(self) -> int:
        """
        The address by which the host knows it; 0 if it does not.
        """
    @property
    def type(self) -> str:
        """
        'unregistered', 'host', 'device' or 'managed'.
        """

class Registration:
    """
    Page-locked memory of the program's own; made by register().

    Ends the page-lock when it is closed, at the end of a `with` block, or when nothing refers to it and its copies any more.

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
        Says why pickle cannot take it, and what it can take.
        """
    def __repr__(self) -> str: ...
    def close(self) -> None:
        """
        Wait for the device, and unlock the memory. Ctrl-C ends the wait and leaves it locked. Closing twice is no error. See cudaHostUnregister.
        """
    def device_view(self) -> DeviceArray:
        """
        The array as kernels see it. See device_view().
        """
    @property
    def array(self) -> numpy.typing.NDArray[typing.Any]:
        """
        The array whose memory it is.
        """
    @property
    def closed(self) -> bool:
        """
        Was it closed?
        """

class PoolStatistics:
    """
    What a memory pool holds, in bytes; made by MemoryPool.statistics.

    See cudaMemPoolGetAttribute.

    >>> import cuscope as cs
    >>> statistics = cs.MemoryPool().statistics
    >>> statistics.used, statistics.reserved
    (0, 0)
    """
    def __copy__(self) -> typing.Any:
        """
        Itself, as nothing of it changes.
        """
    def __deepcopy__(self, memo: typing.Any) -> typing.Any:
        """
        Itself, as nothing of it changes.
        """
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Says why pickle cannot take it, and what it can take.
        """
    def __repr__(self) -> str: ...
    @property
    def reserved(self) -> int:
        """
        What the pool has taken from the device.
        """
    @property
    def reserved_high(self) -> int:
        """
        The most it ever had.
        """
    @property
    def used(self) -> int:
        """
        What arrays use of it.
        """
    @property
    def used_high(self) -> int:
        """
        The most they ever used.
        """

class MemoryPool:
    """
    Device memory that arrays are allocated from in stream order.

    Arrays come from their device's current pool, `device.memory_pool`. What they give back stays in the pool for the next
    ones, until a synchronisation finds more than `release_threshold` bytes reserved.

    Parameters
    ----------
    limit : int, optional
        The most bytes it may reserve; as much as the device has unless given.
    release_threshold : int
        The bytes it keeps when the host synchronizes.
    device : Device, optional
        The current device unless given.

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
        Says why pickle cannot take it, and what it can take.
        """
    def __repr__(self) -> str: ...
    def close(self) -> None:
        """
        Give the pool up; it goes with the last array from it. Closing twice is no error. See cudaMemPoolDestroy.
        """
    def empty(
        self,
        shape: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex],
        dtype: numpy.typing.DTypeLike | None = None,
        *,
        stream: Stream | cuscope._protocols.CudaStream | None = None,
    ) -> DeviceArray:
        """
        A new array from this pool, with whatever the memory holds; the dtype is float32 unless given.

        Raises OutOfMemoryError beyond the pool's limit. See cudaMallocFromPoolAsync.

        >>> import cuscope as cs
        >>> cs.MemoryPool().empty((2, 3)).shape
        (2, 3)
        """
    def reset_high(self) -> None:
        """
        Start to look for the highest values anew. See cudaMemPoolSetAttribute.
        """
    def trim(self, keep: typing.SupportsIndex = 0) -> None:
        """
        Give back to the device what no array uses, until no more than `keep` bytes are reserved.

        See cudaMemPoolTrimTo.

        >>> import cuscope as cs
        >>> cs.current_device().memory_pool.trim()
        """
    @property
    def closed(self) -> bool:
        """
        Was it closed?
        """
    @property
    def device(self) -> Device:
        """
        The device whose memory it is.
        """
    @property
    def is_default(self) -> bool:
        """
        Is it the device's own pool, which cannot be destroyed?
        """
    @property
    def limit(self) -> int | None:
        """
        The most bytes it may reserve; None if only the device is the limit.
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
        What it holds, as PoolStatistics.
        """

class CudaArray:
    """
    An opaque array for textures and surfaces, of 1 to 3 axes.

    Its elements have no address; they are copied in and out, and kernels read them through a Texture and write them through
    a Surface.

    Parameters
    ----------
    shape : int or tuple of int
        (width,), (height, width) or (depth, height, width), as of NumPy's arrays; of layers (layers, width) or
        (layers, height, width), of a cubemap (6, size, size), of a layered one (6 * layers, size, size).
    dtype : dtype
        Of a channel: integers of 8, 16 or 32 bits, floats of 16 or 32.
    channels : int
        1, 2 or 4; more than 1 are the last axis of the arrays that are copied.
    layered : bool
        Of lines or planes that kernels choose by number: tex1DLayered(), tex2DLayered(). See cudaArrayLayered.
    cubemap : bool
        Of six square faces, +x, -x, +y, -y, +z, -z, that kernels choose by a direction: texCubemap(), and
        texCubemapLayered() of a layered one. See cudaArrayCubemap.
    surface : bool
        Surfaces of it may be made.
    gather : bool
        tex2Dgather() may read it.
    device : Device, optional
        The current device unless given.

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
        Says why pickle cannot take it, and what it can take.
        """
    def __repr__(self) -> str: ...
    def close(self) -> None:
        """
        Give it up; it is freed once nothing uses it. Closing twice is no error. See cudaFreeArray.
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
        How many channels an element has.
        """
    @property
    def closed(self) -> bool:
        """
        Was it closed?
        """
    @property
    def cubemap(self) -> bool:
        """
        Does it have faces that kernels choose by a direction?
        """
    @property
    def device(self) -> Device:
        """
        The device whose memory it is.
        """
    @property
    def dtype(self) -> numpy.dtype[typing.Any]:
        """
        NumPy's type of a channel.
        """
    @property
    def layered(self) -> bool:
        """
        Does it have layers that kernels choose by number?
        """
    @property
    def shape(self) -> tuple[int, ...]:
        """
        The extents in elements: depth, height, width. Of layers and faces their number comes first.
        """
    @property
    def surface(self) -> bool:
        """
        May surfaces of it be made?
        """

class MipmappedArray:
    """
    An array at several sizes, for textures that choose one.

    Level 0 has the shape that is asked for, and each next level half as many elements along every axis of coordinates,
    rounded down, but at least 1. A Texture of it is read by tex2DLod(), tex2DGrad() and their like; tex2D() reads level 0.
    The program fills every level: nothing makes the smaller levels from the larger.

    Parameters
    ----------
    shape : int or tuple of int
        Of level 0, as of a CudaArray.
    dtype : dtype
        Of a channel: integers of 8, 16 or 32 bits, floats of 16 or 32.
    levels : int, optional
        How many there are. Unless given, as many as lead to one element.
    channels : int
        1, 2 or 4; more than 1 are the last axis of the arrays that are copied.
    layered, cubemap : bool
        As of a CudaArray. All levels have as many layers and faces.
    surface : bool
        Surfaces of its levels may be made.
    device : Device, optional
        The current device unless given.

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
        Says why pickle cannot take it, and what it can take.
        """
    def __repr__(self) -> str: ...
    def close(self) -> None:
        """
        Give it up; it is freed once nothing uses it, nor any of its levels. Closing twice is no error. See cudaFreeMipmappedArray.
        """
    def level(self, index: typing.SupportsInt | typing.SupportsIndex) -> CudaArray:
        """
        A level as a CudaArray, to copy to and from and to make surfaces and textures of. It keeps the whole array alive. See cudaGetMipmappedArrayLevel.
        """
    @property
    def channels(self) -> int:
        """
        How many channels an element has.
        """
    @property
    def closed(self) -> bool:
        """
        Was it closed?
        """
    @property
    def cubemap(self) -> bool:
        """
        Does it have faces that kernels choose by a direction?
        """
    @property
    def device(self) -> Device:
        """
        The device whose memory it is.
        """
    @property
    def dtype(self) -> numpy.dtype[typing.Any]:
        """
        NumPy's type of a channel.
        """
    @property
    def layered(self) -> bool:
        """
        Does it have layers that kernels choose by number?
        """
    @property
    def levels(self) -> int:
        """
        How many levels there are.
        """
    @property
    def shape(self) -> tuple[int, ...]:
        """
        The extents of level 0 in elements: depth, height, width. Of layers and faces their number comes first.
        """
    @property
    def surface(self) -> bool:
        """
        May surfaces of its levels be made?
        """

class Texture:
    """
    A texture object: how kernels read an array, by tex1D(), tex2D(), tex3D(), tex1Dfetch() and their like.

    Pass it to a parameter of type cudaTextureObject_t.

    Parameters
    ----------
    source : CudaArray, MipmappedArray or DeviceArray
        Device memory is read as one axis (tex1Dfetch) or as two, whose rows are contiguous and `pitch` bytes apart.
    channels : int, optional
        Of device memory, along the last axis: 1 (unless given), 2 or 4.
    filter : str
        'point', or 'linear' between neighbouring elements, for floats and normalised reads.
    address : str or tuple of str
        What lies outside, for each axis of coordinates, x first: 'clamp', 'border', and with normalised coordinates 'wrap' and 'mirror'.
    normalized_coordinates : bool
        Coordinates go from 0 to 1, not to the extent. Of a cubemap they are a direction, whatever is said here.
    normalized_reads : bool
        Integers of 8 and 16 bits are read as floats from 0 or -1 to 1.
    border : number or tuple of numbers
        What 'border' reads outside; of each channel if several are given.
    srgb : bool
        Normalised 8-bit reads are taken for sRGB and made linear.
    mipmap_filter : str
        Of a MipmappedArray: 'point' reads the nearest level, 'linear' between two.
    mipmap_level_bias : float
        Of a MipmappedArray: is added to the level that a kernel asks for.
    min_mipmap_level_clamp, max_mipmap_level_clamp : float
        Of a MipmappedArray: the levels that are read. All of them unless given.

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
        Says why pickle cannot take it, and what it can take.
        """
    def __repr__(self) -> str: ...
    def close(self) -> None:
        """
        Give it up; it goes once no kernel uses it. Closing twice is no error.
        """
    @property
    def closed(self) -> bool:
        """
        Was it closed?
        """
    @property
    def device(self) -> Device:
        """
        The device whose kernels use it.
        """
    @property
    def handle(self) -> int:
        """
        The number that kernels get, a cudaTextureObject_t or cudaSurfaceObject_t.
        """

class Surface:
    """
    A surface object: how kernels read and write an array, by surf2Dread(), surf2Dwrite() and their like.

    Pass it to a parameter of type cudaSurfaceObject_t; x is in bytes there. The array is a CudaArray made with
    surface=True. See cudaCreateSurfaceObject: CUDA C++ Programming Guide, "Surface Object API".

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
        Says why pickle cannot take it, and what it can take.
        """
    def __repr__(self) -> str: ...
    def close(self) -> None:
        """
        Give it up; it goes once no kernel uses it. Closing twice is no error.
        """
    @property
    def closed(self) -> bool:
        """
        Was it closed?
        """
    @property
    def device(self) -> Device:
        """
        The device whose kernels use it.
        """
    @property
    def handle(self) -> int:
        """
        The number that kernels get, a cudaTextureObject_t or cudaSurfaceObject_t.
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
        Itself, as nothing of it changes.
        """
    def __deepcopy__(self, memo: typing.Any) -> typing.Any:
        """
        Itself, as nothing of it changes.
        """
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Says why pickle cannot take it, and what it can take.
        """
    def __repr__(self) -> str: ...
    @property
    def element(self) -> str:
        """
        NumPy's name of the scalar, or of what a pointer points to; '' where it has none.
        """
    @property
    def is_const(self) -> bool:
        """
        Does it point to what the kernel only reads?
        """
    @property
    def kind(self) -> str:
        """
        'pointer', 'scalar' or 'opaque': a structure, or one of which only the size is known.
        """
    @property
    def name(self) -> str:
        """
        Its name in the source; '' where that is not known.
        """
    @property
    def size(self) -> int:
        """
        The bytes of the parameter itself.
        """
    @property
    def type(self) -> str:
        """
        Its type in the source; '' where that is not known.
        """

class GlobalCounts:
    """
    How a kernel reached for the memory of one argument: what Counts.by_argument holds.

    Accesses are of threads, requests of warps, sectors are the pieces of 32 bytes that the requests touch.

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
        Itself, as nothing of it changes.
        """
    def __deepcopy__(self, memo: typing.Any) -> typing.Any:
        """
        Itself, as nothing of it changes.
        """
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Says why pickle cannot take it, and what it can take.
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
        Bytes that the reads of threads asked for.
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
        Bytes that the writes of threads asked for.
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
    What the threads of one launch did, from Kernel.count().

    Names are Nsight Compute's where it has them: a *request* is one instruction of a warp, a *sector* 32 bytes of global
    memory, a *wavefront* what the 32 banks of shared memory serve at once. Counts are sums over all threads of the launch,
    and the same on every run of the same program. What a thread keeps for itself (local memory) is not counted, nor are
    constants, textures and parameters.

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
        Itself, as nothing of it changes.
        """
    def __deepcopy__(self, memo: typing.Any) -> typing.Any:
        """
        Itself, as nothing of it changes.
        """
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Says why pickle cannot take it, and what it can take.
        """
    def __repr__(self) -> str: ...
    @property
    def active_threads_per_warp(self) -> float:
        """
        thread_steps / warp_steps: 32 where no lane ever waits for another branch to end, or has ended; 0 if nothing ran.
        """
    @property
    def bank_conflicts(self) -> int:
        """
        Of reads and writes together.
        """
    @property
    def by_argument(self) -> dict[str, GlobalCounts]:
        """
        For each argument that points to memory, a GlobalCounts of what lies there, by the parameter's name (or its
        position, where the name is not known). Of a structure it is all that its pointers point to. Where several point into one
        allocation, what lies at and behind a pointer, up to the next, is its argument's.
        """
    @property
    def global_atomics(self) -> int:
        """
        Atomic operations on global memory by threads.
        """
    @property
    def global_load_bytes(self) -> int:
        """
        Bytes that the reads of threads asked for.
        """
    @property
    def global_load_requests(self) -> int:
        """
        Reads of global memory by warps.
        """
    @property
    def global_load_sectors(self) -> int:
        """
        Sectors of 32 bytes that the reads of warps touch, summed over requests: 4 a request where a warp reads 32 floats that lie side by side, 32 where they lie far apart.
        """
    @property
    def global_loads(self) -> int:
        """
        Reads of global memory by threads.
        """
    @property
    def global_store_bytes(self) -> int:
        """
        Bytes that the writes of threads asked for.
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
        Wavefronts of reads beyond those that no arrangement could have saved.
        """
    @property
    def shared_load_requests(self) -> int:
        """
        Reads of shared memory by warps.
        """
    @property
    def shared_load_wavefronts(self) -> int:
        """
        What the banks took to serve the reads: each gives one word of 4 bytes at a time, to all lanes that want it.
        """
    @property
    def shared_loads(self) -> int:
        """
        Reads of shared memory by threads.
        """
    @property
    def shared_store_bank_conflicts(self) -> int:
        """
        Wavefronts of writes beyond those that no arrangement could have saved.
        """
    @property
    def shared_store_requests(self) -> int:
        """
        Writes of shared memory by warps.
        """
    @property
    def shared_store_wavefronts(self) -> int:
        """
        What the banks took to serve the writes.
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
        Basic blocks that warps issued: a warp issues one as long as any of its lanes runs it.
        """

class FunctionAttributes:
    """
    What a kernel needs of a device: the fields of cudaFuncAttributes.

    Made by Kernel.attributes. A simulated device has no registers and no local memory to count: those are 0.

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
        Itself, as nothing of it changes.
        """
    def __deepcopy__(self, memo: typing.Any) -> typing.Any:
        """
        Itself, as nothing of it changes.
        """
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Says why pickle cannot take it, and what it can take.
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
        Local memory of a thread, in bytes.
        """
    @property
    def max_dynamic_shared_size(self) -> int:
        """
        The dynamic shared memory that a launch may ask for, in bytes.
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
        The share of the first-level cache wanted as shared memory, in per cent; -1: no wish.
        """
    @property
    def ptx_version(self) -> int:
        """
        The virtual architecture that it was compiled for: 90 is 9.0.
        """
    @property
    def registers(self) -> int:
        """
        Registers of a thread.
        """
    @property
    def required_cluster_depth(self) -> int:
        """
        The blocks of a cluster along z that it requires; 0: none are.
        """
    @property
    def required_cluster_height(self) -> int:
        """
        The blocks of a cluster along y that it requires; 0: none are.
        """
    @property
    def required_cluster_width(self) -> int:
        """
        The blocks of a cluster along x that it requires; 0: none are.
        """
    @property
    def shared_size(self) -> int:
        """
        Static shared memory of a block, in bytes.
        """

class KernelLaunch:
    """
    A kernel with its grid and block: what kernel[grid, block] gives, to be called with the arguments.

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

        Raises TypeError for a wrong count, kind or element type, OverflowError for a number that does not fit, ValueError for an
        array that is closed or elsewhere, CudaError for a grid or block that the device does not have. Nothing is launched then.
        What goes wrong in the kernel itself shows when it is waited for. See cudaLaunchKernel: CUDA C++ Programming Guide,
        "Kernels".
        """
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Says why pickle cannot take it, and what it can take.
        """
    def __repr__(self) -> str: ...

class Kernel:
    """
    A __global__ function of a Module, by its name: mod.vec_add.

    ``kernel[grid, block](*args)`` launches it in the current stream of its device; ``kernel[grid, block, stream,
    shared_bytes]`` says which stream, and how much dynamic shared memory. Arguments are checked against the kernel's
    own signature: pointers take a DeviceArray of their element type (or a page-locked array, or None), scalars a number
    that they can hold, structures one element of a structured dtype (or bytes of their size), vectors such as float4 a tuple
    or a NumPy array of their elements.

    ``grid`` counts blocks and ``block`` threads: an int, or (x, y, z). The launch returns before the kernel has run.

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
        Refused: a launch is kernel[grid, block](...).
        """
    def __getitem__(self, key: tuple[typing.Any, ...]) -> KernelLaunch:
        """
        The kernel with a grid and a block, to be called: kernel[grid, block, stream, shared_bytes], of which the last two may be left out.
        """
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Says why pickle cannot take it, and what it can take.
        """
    def __repr__(self) -> str: ...
    def available_shared(self, block: typing.SupportsIndex, blocks: typing.SupportsIndex = 1) -> int:
        """
        How many bytes of dynamic shared memory a block of so many threads can have, where a multiprocessor holds so many.

        More than Kernel.max_dynamic_shared has to be asked for by setting that. Raises CudaError (cudaErrorInvalidValue) where a
        multiprocessor does not hold that many. See cudaOccupancyAvailableDynamicSMemPerBlock.

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
        (grid, block): the smallest grid that fills the device, with the block size that fills it best.

        ``shared`` are bytes of dynamic shared memory, or a function that says how many a block of so many threads has; ``limit``
        is the most threads of a block (0: no limit). What the function raises is raised. See cudaOccupancyMaxPotentialBlockSize
        and cudaOccupancyMaxPotentialBlockSizeVariableSMem.

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
        The kernel with all that a launch can say, to be called with the arguments, as often as wanted.

        Parameters
        ----------
        grid, block : int or tuple of int
            Blocks of the grid and threads of a block: an int, or (x, y, z).
        stream : Stream, optional
            The current stream of the kernel's device at the time of the call unless given.
        shared : int
            Dynamic shared memory of a block, in bytes; beyond 48 KiB, Kernel.max_dynamic_shared has to be set.
        duration : float, optional
            How many seconds the kernel takes on a simulated device; a GPU takes no notice.
        cooperative : bool
            All blocks run at once, and may wait for each other: cooperative_groups' grid.sync().
        cluster : int or tuple of int, optional
            Blocks of a cluster, which run at once and see each other's shared memory. They divide the grid; 8 at most, or 16
            with Kernel.non_portable_cluster_size_allowed.
        preferred_cluster : int or tuple of int, optional
            A multiple of ``cluster`` that is taken where there is room.
        cluster_scheduling_policy : str, optional
            'default', 'spread' or 'load_balancing'.
        priority : int, optional
            Of this launch, instead of the stream's: smaller numbers go first, clamped to device.stream_priority_range.
        programmatic, programmatic_stream_serialization : bool
            Two names of one thing: the kernel may start as soon as the kernel before it in the stream triggers, cudaTriggerProgrammaticLaunchCompletion,
            and waits for it by itself, cudaGridDependencySynchronize.
        programmatic_event : Event, optional
            Recorded when all blocks have triggered, or at the start of the last with ``trigger_at_block_start``. Without timing.
        launch_completion_event : Event, optional
            Recorded when all blocks have started. Without timing.
        mem_sync_domain : str, optional
            'default' or 'remote': which domain its fences are of.
        mem_sync_domain_map : (int, int), optional
            The domains that these two stand for.
        access_policy_window : AccessPolicyWindow, optional
            How the second-level cache treats a range of memory.
        preferred_shared_memory_carveout : int, optional
            How much of the first-level cache is wanted as shared memory, in per cent; -1: no wish.
        nvlink_util_centric_scheduling : bool
            Place blocks with NVLink's use in mind.

        Raises TypeError or ValueError that names the argument. What the device refuses, the launch raises as CudaError:
        KernelLaunch.__call__. See cudaLaunchKernelExC and cudaLaunchAttributeID: CUDA C++ Programming Guide, "Thread Block
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
        Launch the kernel as launch() does, wait for it, and return what its threads did, as Counts.

        Only a simulated device counts, and only a kernel that was compiled from source: cs.Module(source) or
        cs.Module.from_file('kernel.cu'). The source is compiled a second time, with hooks where it accesses memory, when one of
        its module's kernels is first counted; the result is kept on disk as any compiled kernel is. The launch does its work,
        and takes as long on the simulated clock as one that is not counted.

        Raises what launch() raises, what the kernel does wrong as CudaError, CudaError (cudaErrorNotSupported) on a real GPU,
        ValueError for a kernel without source. See docs/counting.md for what is counted, and how; CUDA C++ Programming Guide,
        "Maximize Memory Throughput".

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
        Launch the kernel, as kernel[grid, block, stream, shared](*args) does.

        The keywords are those of configure(): grid and block, stream and shared, duration (seconds, on a simulated device), and
        the attributes of a launch, such as cooperative, cluster and priority.

        Errors are those of configure() and KernelLaunch.__call__. See cudaLaunchKernelExC: CUDA C++ Programming Guide, "Kernels".

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
        How many clusters of so many blocks, each of so many threads, the device holds at once.

        Raises CudaError for clusters that the kernel cannot have. See cudaOccupancyMaxActiveClusters.

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
        The most blocks of so many threads that a cluster of the kernel can have.

        Larger with non_portable_cluster_size_allowed. See cudaOccupancyMaxPotentialClusterSize.

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
        How many blocks of so many threads, with so many bytes of dynamic shared memory, a multiprocessor holds.

        ``disable_caching_override`` keeps the caching of global loads where it would change that. Raises ValueError for less
        than one thread. See cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags.

        >>> import cuscope as cs
        >>> mod = cs.Module("__global__ void nothing() {}")
        >>> mod.nothing.occupancy(256) >= 1
        True
        """
    def set_cache_config(self, preference: str) -> None:
        """
        Prefer shared memory or first-level cache: 'prefer_none', 'prefer_shared', 'prefer_l1' or 'prefer_equal'.

        A hint: preferred_shared_memory_carveout says it in finer steps. Raises ValueError for another word. See
        cudaFuncSetCacheConfig: CUDA Runtime API, "Execution Control".

        >>> import cuscope as cs
        >>> cs.Module("__global__ void nothing() {}").nothing.set_cache_config("prefer_shared")
        """
    @property
    def attributes(self) -> FunctionAttributes:
        """
        What it needs of a device. See cudaFuncGetAttributes. All zeros if the device is lost.
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
        How many bytes of dynamic shared memory a launch may ask for; more than 48 KiB has to be set, up to device.properties.shared_memory_per_block_optin. See cudaFuncSetAttribute: CUDA C++ Programming Guide, "Shared Memory".
        """
    @max_dynamic_shared.setter
    def max_dynamic_shared(self, arg1: typing.SupportsIndex) -> None: ...
    @property
    def name(self) -> str:
        """
        As its source calls it.
        """
    @property
    def non_portable_cluster_size_allowed(self) -> bool:
        """
        May clusters have more than the 8 blocks that every device with clusters supports? See cudaFuncSetAttribute: CUDA C++ Programming Guide, "Thread Block Clusters".
        """
    @non_portable_cluster_size_allowed.setter
    def non_portable_cluster_size_allowed(self, arg1: bool) -> None: ...
    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """
        What it takes, a Parameter each.
        """
    @property
    def preferred_shared_memory_carveout(self) -> int:
        """
        How much of the first-level cache is wanted as shared memory, in per cent; -1: no wish. A hint. Setting raises CudaError for another number. See cudaFuncSetAttribute: CUDA C++ Programming Guide, "Shared Memory".
        """
    @preferred_shared_memory_carveout.setter
    def preferred_shared_memory_carveout(self, arg1: typing.SupportsIndex) -> None: ...
    @property
    def required_cluster(self) -> tuple[int, int, int] | None:
        """
        The blocks (x, y, z) of the clusters that every launch of the kernel has; None: each says it. Fixed where the source has __cluster_dims__: setting it raises CudaError (cudaErrorNotPermitted). See cudaFuncSetAttribute: CUDA C++ Programming Guide, "Thread Block Clusters".
        """
    @required_cluster.setter
    def required_cluster(
        self, arg1: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex] | None
    ) -> None: ...

class Module:
    """
    CUDA C++ compiled and loaded on a device, and its kernels.

    ``mod.vec_add`` and ``mod["scale<float>"]`` are Kernels.

    Parameters
    ----------
    source : str
        CUDA C++. Host code in it (main, launches, functions without __device__) is left out, as by nvcc's pass for the
        device; instances of templates that it launches are compiled.
    name_expressions : sequence of str
        Instances of templates to compile: ["scale<float>"].
    options : sequence of str
        The compiler's own: ["-DN=4", "-O3"].
    include_paths : sequence of str or path
        Folders that #include looks in.
    headers : dict of str to str
        Headers as text, by the name that #include gives.
    file_name : str
        What messages call the source.
    cache : bool
        Keep and use compiled kernels on disk (CUSCOPE_CACHE_DIR).
    device : Device, optional
        The current device unless given.

    Raises
    ------
    CompileError
        The source does not compile, or takes longer than CUSCOPE_COMPILE_TIMEOUT; ``.log`` is the compiler's.
    CudaError
        There is no compiler (cudaErrorJitCompilerNotFound), or the device does not take the code.

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
        A module from a file: .cu is compiled; .cubin, .ptx, .fatbin and a saved .image are loaded.

        The folder of a .cu file is among its include paths. The other parameters are those of Module(). Raises CudaError for
        a file that is not there (cudaErrorFileNotFound) or no code of this device (cudaErrorInvalidKernelImage), CompileError,
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
        A kernel by its name. AttributeError, which lists those there are, if there is none.
        """
    def __getitem__(self, name: str) -> Kernel:
        """
        A kernel by its name, such as 'scale<float>', by 'put(int*)' where several share one, or by what the compiler calls it. KeyError, which lists those there are, if there is none.
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
        Says why pickle cannot take it, and what it can take.
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

        Copies go both ways, as with any array; `pointer` is the variable's address and `nbytes` its size. Bytes along one axis,
        unless a dtype and a shape say what it holds. Raises KeyError if there is no such variable, ValueError if the shape does
        not fit it. See cudaGetSymbolAddress, cudaMemcpyToSymbol: CUDA C++ Programming Guide, "Device Memory".

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
        The compiled bytes: save them as an .image file, and load them with from_file().
        """
    @property
    def kernels(self) -> tuple[str, ...]:
        """
        The names of its kernels, in the order of the source.
        """
    @property
    def log(self) -> str:
        """
        What the compiler said.
        """

class WriteValue:
    """
    Of a batch: writes a number to memory. See Stream.write_value.

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
        Says why pickle cannot take it, and what it can take.
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
    Of a batch: waits until memory holds a number. See Stream.wait_value.

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
        Says why pickle cannot take it, and what it can take.
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
        What has to be true: 'geq', 'eq', 'and' or 'nor'.
        """
    @property
    def value(self) -> int:
        """
        The number.
        """

class MemoryBarrier:
    """
    Of a batch: what was written before is seen before what is written after.

    By the whole system, or with ``scope="device"`` by the device. See CU_STREAM_MEM_OP_BARRIER: CUDA Driver API, "Stream
    Memory Operations".

    Examples
    --------
    >>> import cuscope as cs
    >>> cs.MemoryBarrier("device")
    <MemoryBarrier device>
    """
    def __init__(self, scope: str = "system") -> None: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Another that is the same.
        """
    def __repr__(self) -> str: ...
    @property
    def scope(self) -> str:
        """
        Who sees it: 'system' or 'device'.
        """

class ExternalSemaphore:
    """
    A semaphore of another interface, such as Vulkan's, that streams signal and wait for.

    Parameters
    ----------
    fd : int
        What the other interface exported, as a file descriptor. It is CUDA's from then on, and closed with the semaphore,
        unless the import raises.
    type : str
        'opaque_fd': binary; a wait takes the signal. 'timeline_semaphore_fd': a counter that signals set, and that waits
        compare.
    device : Device, optional
        The current device unless given.

    On a simulated device the other side is another process, or any Python program: an 'opaque_fd' is an eventfd (a signal adds
    one, a wait takes what is there), a 'timeline_semaphore_fd' a file in memory whose first 8 bytes are the counter.

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
        Says why pickle cannot take it, and what it can take.
        """
    def __repr__(self) -> str: ...
    def close(self) -> None:
        """
        Let the semaphore go: what uses it keeps it. Closing twice is no error. See cudaDestroyExternalSemaphore.

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
        Was it closed?
        """
    @property
    def device(self) -> Device:
        """
        The device that it was imported for.
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
        Says why pickle cannot take it, and what it can take.
        """
    def __repr__(self) -> str: ...
    def destroy(self) -> None:
        """
        Take the node and its edges out of the graph. Executables keep theirs. See cudaGraphDestroyNode.

        >>> import cuscope as cs
        >>> g = cs.Graph()
        >>> g.add_empty().destroy()
        >>> g.nodes
        []
        """
    @property
    def bodies(self) -> list[Graph]:
        """
        The graphs within it: a child's one, those that a conditional chooses from.
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
        The graph that it is of.
        """
    @property
    def label(self) -> str:
        """
        What a drawing says of it: a kernel's name and size, a copy's direction and bytes.
        """
    @property
    def params(self) -> dict[str, typing.Any]:
        """
        What it does it with, a dictionary by its type.
        """
    @property
    def type(self) -> str:
        """
        What it does: 'kernel', 'copy', 'memset', 'host', 'child', 'empty', 'event_wait', 'event_record', 'alloc', 'free', 'batch_mem_op', 'external_semaphore_signal', 'external_semaphore_wait' or 'conditional'.
        """

class Graph:
    """
    Work and its order, to be launched as often as wanted.

    Nodes are added one by one, each behind others (``after=``), or captured: Stream.capture(). What they use, arrays, kernels,
    events and Python callables, is kept by the graph, by its executables, and until every launch has ended.

    Parameters
    ----------
    device : Device, optional
        The current device unless given.

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
        Says why pickle cannot take it, and what it can take.
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
        Add a node that allocates memory when the graph runs; returns it and an array over that memory.

        The array is for nodes behind this one, and for the streams that the graph was launched in, until a node frees it, of this
        graph or another (add_free). A second launch before that is refused, unless the executable was instantiated with
        ``auto_free_on_launch``. Nobody may use the array before the graph has run, or once it is freed, or the graph and its
        executables are gone.

        Raises CudaError where there is no room. See cudaGraphAddMemAllocNode: CUDA C++ Programming Guide, "Graph Memory Nodes".

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
        Add memory operations that are done in order: writes of a number, waits for one, barriers.

        Raises what Stream.batch_mem_op() raises. See cuGraphAddBatchMemOpNode.

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
        Let a node wait for another.

        With ``programmatic``, between kernels, it waits only until the first has called cudaTriggerProgrammaticLaunchCompletion.
        Raises ValueError for an edge that would close a cycle, CudaError for one that is there already. See
        cudaGraphAddDependencies.

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
        Add a node that frees what a node of a graph allocated.

        Raises CudaError for memory that no node allocates, or that another node of the graph frees. See cudaGraphAddMemFreeNode.

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
        Of a clone: the node that stands for one of the graph that it was cloned from.

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
        Make the graph ready to run. Later changes of the graph do not change the executable.

        Parameters
        ----------
        auto_free_on_launch : bool
            A launch frees what alloc nodes of an earlier launch allocated and nobody freed.
        device_launch : bool
            Kernels may launch it, once it was uploaded. It has kernels, memsets, copies of memory that is not pageable, and child
            graphs of these.
        use_node_priority : bool
            Kernels run with the priorities of their nodes, instead of the stream's.
        upload : Stream or None
            Bring the executable to the device, in the order of this stream, as GraphExec.upload() does.

        Raises CudaError where the device refuses the graph. See cudaGraphInstantiate.

        >>> import cuscope as cs
        >>> cs.Graph().instantiate().launch()
        """
    def remove_dependency(self, before: GraphNode, later: GraphNode, *, programmatic: bool = False) -> None:
        """
        Take an edge away. Raises CudaError if there is none. See cudaGraphRemoveDependencies.

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
        The graph in the language of Graphviz: kernels by name, copies with direction and size, bodies as boxes.

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
        Those of the edges where the second waits only until the first kernel says that it may start.
        """
    @property
    def roots(self) -> list[GraphNode]:
        """
        The nodes that wait for no other.
        """

class GraphUpdate:
    """
    What GraphExec.update() said: true if the executable was updated.

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
        Says why pickle cannot take it, and what it can take.
        """
    def __repr__(self) -> str: ...
    @property
    def from_node(self) -> GraphNode:
        """
        Where an edge that differs begins; None otherwise.
        """
    @property
    def node(self) -> GraphNode:
        """
        The node of the new graph that differs; None if it is none in particular.
        """
    @property
    def result(self) -> str:
        """
        'success', or why not: 'topology_changed', 'node_type_changed', 'function_changed', 'parameters_changed', 'unsupported_function_change', 'attributes_changed', 'not_supported', 'error'.
        """

class GraphExec:
    """
    A graph made ready to run, from Graph.instantiate().

    It may be launched as often as wanted, in any stream of its device; two launches of it never overlap. It outlives its graph.

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
        Says why pickle cannot take it, and what it can take.
        """
    def __repr__(self) -> str: ...
    def close(self) -> None:
        """
        Let the executable go; launches go on. Closing twice is no error. See cudaGraphExecDestroy.

        >>> import cuscope as cs
        >>> exe = cs.Graph().instantiate()
        >>> exe.close()
        >>> exe.closed
        True
        """
    def is_enabled(self, node: GraphNode) -> bool:
        """
        Does a node do its work? See cudaGraphNodeGetEnabled.

        >>> import cuscope as cs
        >>> g = cs.Graph()
        >>> node = g.add_memset(cs.zeros(1), 1)
        >>> g.instantiate().is_enabled(node)
        True
        """
    def launch(self, stream: Stream | cuscope._protocols.CudaStream | None = None) -> None:
        """
        Run the graph in a stream, the current one unless given.

        Raises CaptureError if the stream is being captured (Graph.add_child makes a graph a part of another), CudaError where the
        device refuses it. See cudaGraphLaunch.

        >>> import cuscope as cs
        >>> cs.Graph().instantiate().launch()
        """
    def set_batch_mem_op(
        self, node: GraphNode, operations: collections.abc.Iterable[WriteValue | WaitValue | MemoryBarrier]
    ) -> None:
        """
        Change the arrays, numbers and conditions of a node of memory operations; their types and count stay.

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
        Take over the parameters of a graph in a child node: one that is built as the child is.

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
        Change a copy node of the executable. The direction stays. See cudaGraphExecMemcpyNodeSetParams.

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
        Let a kernel, copy or memset node do its work, or nothing, in launches from now on.

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
        Change the semaphores that a node of the executable signals or waits for, and their values; as many as before.

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
        Change what a host node of the executable calls. See cudaGraphExecHostNodeSetParams.

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
        Change a kernel node of the executable; the graph's own stays. Arguments are those of Graph.add_kernel().

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
        Take over the parameters of another graph that is built in the same way.

        Launches from now on use them. If the graphs differ in more than that, the answer says where, and the executable is as it
        was. See cudaGraphExecUpdate.

        >>> import cuscope as cs
        >>> g, other = cs.Graph(), cs.Graph()
        >>> node = other.add_empty()
        >>> bool(g.instantiate().update(other))
        False
        """
    def upload(self, stream: Stream | cuscope._protocols.CudaStream | None = None) -> None:
        """
        Bring the executable to the device, so that the first launch need not. See cudaGraphUpload.

        >>> import cuscope as cs
        >>> cs.Graph().instantiate().upload()
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
    def flags(self) -> int:
        """
        What it was instantiated with: the bits of cudaGraphInstantiateFlags.
        """
    @property
    def handle(self) -> int:
        """
        The runtime's own handle, a cudaGraphExec_t, as an int.

        A kernel that gets the GraphExec itself keeps it until it has run; one that gets the number does not.

        >>> import cuscope as cs
        >>> exe = cs.Graph().instantiate()
        >>> exe.handle != 0
        True
        """

class Capture:
    """
    What ``with stream.capture() as graph:`` enters.

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
        Says why pickle cannot take it, and what it can take.
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
            Says why pickle cannot take it, and what it can take.
            """

    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Says why pickle cannot take it, and what it can take.
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
        Says why pickle cannot take it, and what it can take.
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
    Why a piece of work waits: a kind, for programs, and a text, for people.

    Examples
    --------
    >>> import cuscope as cs
    >>> with cs.Device("host:0"):
    ...     stream, flag = cs.Stream(), cs.pinned_empty(1, "u4")
    ...     flag[0] = 0
    ...     stream.wait_value(flag, 1)
    ...     cs.host_work(1e-3)  # the device comes to it
    ...     print(cs.pending(cs.current_device())[0].reasons[0].kind)
    ...     flag[0] = 1
    ...     stream.synchronize()
    value
    """
    def __copy__(self) -> typing.Any:
        """
        Itself, as nothing of it changes.
        """
    def __deepcopy__(self, memo: typing.Any) -> typing.Any:
        """
        Itself, as nothing of it changes.
        """
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Says why pickle cannot take it, and what it can take.
        """
    def __repr__(self) -> str: ...
    @property
    def kind(self) -> str:
        """
        What it waits for: ``'order'`` (earlier work of its stream), ``'default_stream'``, ``'event'``,
        ``'graph'``, ``'queue'`` (of the device), ``'engine'``, ``'multiprocessors'``, ``'value'`` (a number in memory),
        ``'semaphore'``, ``'host_function'``, ``'kernel'`` (one whose threads spin) or ``'simulation'``.
        """
    @property
    def text(self) -> str:
        """
        The same, with names and numbers.
        """

class PendingWork:
    """
    A piece of work that is in flight: what cs.pending() holds.

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
        Itself, as nothing of it changes.
        """
    def __deepcopy__(self, memo: typing.Any) -> typing.Any:
        """
        Itself, as nothing of it changes.
        """
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Says why pickle cannot take it, and what it can take.
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
        Where it stands in its stream, 1 being the oldest in flight; 0: a node of a graph.
        """
    @property
    def reasons(self) -> list[PendingReason]:
        """
        Why it waits, each a PendingReason.
        """
    @property
    def state(self) -> str:
        """
        ``'ready'``, ``'running'``, ``'waiting'`` or, on a GPU, ``'unknown'``.
        """
    @property
    def stream(self) -> str:
        """
        The stream's name, as its repr says it: ``'Stream #2'``.
        """
    @property
    def what(self) -> str:
        """
        ``'copy of 4 KiB, host to device'``, ``'kernel add<<<4, 256>>>'``.
        """

class Pending:
    """
    What is in flight: a sequence of PendingWork that prints as a table.

    Examples
    --------
    >>> import cuscope as cs
    >>> cs.synchronize()
    >>> cs.pending(cs.current_device())
    nothing is in flight
    """
    def __copy__(self) -> typing.Any:
        """
        Itself, as nothing of it changes.
        """
    def __deepcopy__(self, memo: typing.Any) -> typing.Any:
        """
        Itself, as nothing of it changes.
        """
    def __getitem__(self, index: typing.SupportsInt | typing.SupportsIndex) -> PendingWork: ...
    def __iter__(self) -> collections.abc.Iterator[PendingWork]: ...
    def __len__(self) -> int: ...
    def __reduce__(self) -> tuple[typing.Any, ...]:
        """
        Says why pickle cannot take it, and what it can take.
        """
    def __repr__(self) -> str: ...
    def _repr_html_(self) -> str: ...
    @property
    def roots(self) -> list[str]:
        """
        What all of it waits for in the end: what no work in flight will bring about.
        """

def add_host_device(model: str = "h200") -> Device:
    """
    Add a simulated device of a named model, such as 'h200' or 'fermi'; returns it.

    It is in devices() from now on, until the process ends. Raises ValueError for a model that is not there; the message
    lists those there are. CUDA has no such function: docs/simulation.md says what a model is.

    >>> import cuscope as cs
    >>> cs.add_host_device("h200").model
    'h200 model'
    """

def as_stream(
    object: Stream | cuscope._protocols.CudaStream | None, *, device: Device | None = None
) -> Stream:
    """
    A stream of another library as a Stream, which keeps the object alive. A Stream is returned as it is.

    Where the handle is that of one of cuscope's own streams, the result is equal to that Stream, and closing it leaves that one
    open.

    Takes what has __cuda_stream__ (or PyTorch's cuda_stream); any argument `stream` does so by itself. Handles of the
    default streams mean those of the device, the current one unless given. Raises TypeError for other objects, CudaError for
    a handle of a simulated device that is none.

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
    Any array as a DeviceArray: without a copy if it is in a device's memory, else as to_device() does.

    Takes what has __cuda_array_interface__ or __dlpack__ (CuPy, PyTorch, JAX, Numba, ...), which stays alive until all
    streams that used it are past that, and NumPy's arrays. All streams that use the result wait for what the other library
    had enqueued. A DeviceArray is returned as it is.

    Parameters
    ----------
    object : array
        Of any library.
    copy : bool, optional
        True: always a copy; False: never.
    stream : Stream, optional
        The stream that DLPack is told to get ready for; the current one unless given. The copy is made in it.

    Raises
    ------
    ValueError, TypeError, BufferError
        What the object says of itself is no array that a device reaches; or copy=False for an array on the host.

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
    May a kernel write its result here? In C order, and apart from the operands.
    """

def clock() -> float:
    """
    The host's time in seconds, as the runtime of the current device sees it.

    Simulated on a simulated device, the monotonic clock on a GPU: one program can time itself on both. Only differences
    mean something. What happens on the device is timed by events: see Event.

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
    Enqueue many copies in one call: pairs (destination, source) of contiguous arrays of as many bytes.

    The copies are not ordered among each other; what comes later in the stream waits for all. Pageable sources may change
    once this returns, which waits if a destination is pageable. See cudaMemcpyBatchAsync.

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

    That of the innermost ``with``, else what set_device() set, else the first of devices(), or the one that the
    environment variable CUSCOPE_DEVICE names. Raises ValueError if that names no device. See cudaGetDevice: CUDA C++
    Programming Guide, "Device Selection".

    >>> import cuscope as cs
    >>> cs.current_device() in cs.devices()
    True
    """

def current_stream() -> Stream:
    """
    The current stream of this thread: that of the innermost ``with`` on the current device, else the
    device's legacy default stream.

    See CUDA C++ Programming Guide, "Default Stream".

    >>> import cuscope as cs
    >>> with cs.Stream() as stream:
    ...     cs.current_stream() is stream
    True
    """

def device_view(array: numpy.typing.NDArray[typing.Any], *, device: Device | None = None) -> DeviceArray:
    """
    A page-locked NumPy array as kernels see it: the same memory, read and written over the bus.

    The memory stays alive as long as the view. Raises TypeError for pageable memory, ValueError for memory that is not
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
    All devices: GPUs first, then the simulated ones. Never raises: what has no driver has no devices.

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
    A new array on the current device (or that of the stream), with whatever the memory holds.

    Parameters
    ----------
    shape : int or tuple of int
        The extent of each axis, 0 or more.
    dtype : dtype
        Of the elements; a numeric or structured one.
    stream : Stream, optional
        In whose order the memory is allocated; the current one unless given.

    Raises
    ------
    TypeError, ValueError
        A dtype that no kernel has; a negative or impossible shape.
    OutOfMemoryError
        The device has not that much memory left.

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
    A new array in managed memory, which the host and the device reach by one address.

    host_view() is a NumPy array over the same memory: synchronize before reading what a kernel writes. prefetch() and
    advise() say where the pages should be. Errors are those of empty(). See cudaMallocManaged: CUDA C++ Programming Guide, "Unified Memory Programming".

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
    A new array of 2 or 3 axes whose rows begin at addresses that suit the device.

    Rows are `pitch` bytes apart, at least as many as they have. Copies between it and other arrays take care of that; a
    kernel is given the pitch as a parameter. Errors are those of empty(). See cudaMallocPitch, cudaMalloc3D: CUDA C++
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
    A new array in memory of its own, as cudaMalloc gives it: not of a pool, not in stream order.

    Allocating takes tens of microseconds, and the memory goes back once the device is idle. Parameters and errors are those of
    empty(). See cudaMalloc, cudaFree: CUDA C++ Programming Guide, "Device Memory".

    >>> import cuscope as cs
    >>> cs.empty_plain(3).pointer % 256
    0
    """

def exchange_capture_mode(mode: str) -> str:
    """
    Say which captures refuse this thread's calls that are not safe during a capture; returns what it was.

    'global', as threads begin: its own, and those that other threads began as 'global'; 'thread_local': its own; 'relaxed':
    none. A capture that was itself begun as 'relaxed' refuses none. See cudaThreadExchangeStreamCaptureMode.

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
    The variant that auto would take, and why.
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
    The variant that auto would take, and why.
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
        With __dlpack__ and __dlpack_device__. A capsule says nothing of streams: order them yourself.
    device : Device, optional
        Where the result has to be; where the array is unless given. An array on the host goes to the current device.
    copy : bool, optional
        True: always a copy; False: never.
    stream : Stream, optional
        The stream that the other library gets its array ready for; the current one unless given. Others wait for it.

    Raises
    ------
    BufferError
        An array on a device that cuscope does not see, of elements that NumPy does not have, of another major version of
        DLPack, or one that has to be copied although copy=False.
    ValueError
        A capsule that was consumed already.

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
    A new array with one value everywhere; the dtype is the value's own, as NumPy sees it, unless given.

    Errors are those of empty() and of DeviceArray.fill(). See cudaMemsetAsync.

    >>> import numpy as np, cuscope as cs
    >>> cs.full(2, 1.5, np.float32).to_host()
    array([1.5, 1.5], dtype=float32)
    """

def host_work(seconds: typing.SupportsFloat | typing.SupportsIndex) -> None:
    """
    Spend the host's time, as clock() measures it: the simulated host is busy for that many seconds.

    On a GPU the thread does wait that long. Raises ValueError for less than 0 or more than 1e9.

    >>> import cuscope as cs
    >>> cs.host_work(1e-6)
    """

def launch_dot(
    x: DeviceArray, y: DeviceArray, out: DeviceArray, stream: Stream | cuscope._protocols.CudaStream | None
) -> tuple[str, str]:
    """
    Enqueues out = sum(x * y) of two vectors; returns the variant that was taken, and why.
    """

def launch_matmul(
    a: DeviceArray,
    b: DeviceArray,
    out: DeviceArray,
    variant: str,
    stream: Stream | cuscope._protocols.CudaStream | None,
) -> tuple[str, str]:
    """
    Enqueues out = a @ b; returns the variant that was taken, and why.
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
    Enqueues out = op(array) over the axes; returns the variant that was taken, and why.
    """

def live() -> dict[str, int]:
    """
    How many of what is alive: for tests that look for leaks.
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
    What is in flight, and what each piece of it waits for: of one device, or of all that are used.

    On a simulated device the answer is exact. A GPU does not say where it stands: it is what this package has
    enqueued there last and what can be told without waiting. The call waits for nothing and changes nothing (no
    simulated time passes, and captures go on); any thread may make it while others wait. A wait during which nothing
    begins or ends for ten seconds warns with this table (cs.PendingWarning). See docs/concurrency.md.

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
    A NumPy array over page-locked memory, with whatever the memory holds.

    Copies between it and a device are asynchronous; it stays alive until they have ended, whoever drops it. So do its
    views: any slice of it is page-locked too.

    Parameters
    ----------
    shape : int or tuple of int
        The extent of each axis, 0 or more.
    dtype : dtype
        Of the elements; a numeric or structured one.
    portable : bool
        Page-locked for all devices of the runtime, not only for this one.
    mapped : bool
        Kernels may read and write it.
    write_combined : bool
        Faster to write for the host, very slow to read.
    device : Device, optional
        The current device unless given.

    Raises
    ------
    TypeError, ValueError
        A dtype that no kernel has; a negative or impossible shape.
    OutOfMemoryError
        The machine cannot page-lock that much.

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
    What kind of memory an array, or an address, is.

    `device` is asked: the array's own unless of is an address, and then the current one. See cudaPointerGetAttributes.

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
    Nanoseconds on a simulated device; -1 if that is not known.
    """

def predict_matmul_instance(
    device: Device,
    kernel: str,
    rows: typing.SupportsInt | typing.SupportsIndex,
    columns: typing.SupportsInt | typing.SupportsIndex,
    depth: typing.SupportsInt | typing.SupportsIndex,
) -> int:
    """
    The same of one of matmul_instances().
    """

def predict_reduction(
    device: Device,
    variant: str,
    elements: typing.SupportsInt | typing.SupportsIndex,
    element_bytes: typing.SupportsInt | typing.SupportsIndex,
) -> int:
    """
    Nanoseconds of one launch on a simulated device; -1 if that is not known.
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
        Of any strides; it stays alive as long as it is page-locked.
    portable : bool
        Page-locked for all devices of the runtime, not only for this one.
    mapped : bool
        Kernels may reach it: see device_view().
    read_only : bool
        Kernels only read it.
    device : Device, optional
        The current device unless given.

    Raises
    ------
    CudaError
        cudaErrorHostMemoryAlreadyRegistered: a part of it is page-locked already.

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
    What each runtime of this build answers when it is asked for its devices.
    """

def set_device(device: Device) -> None:
    """
    Make a device the current one of this thread, until it is changed; inside a ``with``, until that is left.

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
    Wait until all work on a device (the current one unless given) is done.

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
    A new array with the elements of a NumPy array, or of anything that NumPy makes one of.

    It has the source's shape and dtype, and is C-contiguous whatever the source is. Asynchronous if the source is
    page-locked, which then stays alive until it was copied; other memory may be changed once this returns. A DeviceArray is
    copied too, also from another device. Raises TypeError for a dtype that no kernel has, OutOfMemoryError. See
    cudaMemcpyAsync: CUDA C++ Programming Guide, "Device Memory".

    >>> import numpy as np, cuscope as cs
    >>> cs.to_device(np.arange(3)).to_host()
    array([0, 1, 2])
    """

def usual_hint(code: typing.SupportsInt | typing.SupportsIndex, call: str) -> str:
    """
    What is said beside an error of this code and call where nothing more is known.
    """

def zeros(
    shape: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex],
    dtype: numpy.typing.DTypeLike = ...,
    *,
    stream: Stream | cuscope._protocols.CudaStream | None = None,
) -> DeviceArray:
    """
    A new array of zeros, filled in stream order. Parameters and errors are those of empty().

    See cudaMemsetAsync.

    >>> import cuscope as cs
    >>> cs.zeros(2).to_host()
    array([0., 0.], dtype=float32)
    """

build_config: dict[str, str]
