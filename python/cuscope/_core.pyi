"""
What cuscope is made of. Private: import cuscope instead.
"""

from __future__ import annotations
import collections.abc
import numpy
import numpy.typing
import os
import types
import typing

__all__: list[str] = [
    "Contract",
    "Device",
    "DeviceArray",
    "DeviceProperties",
    "Event",
    "FaultDevice",
    "FunctionAttributes",
    "Kernel",
    "KernelLaunch",
    "MemoryInfo",
    "Module",
    "Parameter",
    "Stream",
    "add_host_device",
    "build_config",
    "cache_description",
    "clock",
    "contract",
    "current_device",
    "current_stream",
    "devices",
    "empty",
    "full",
    "host_work",
    "live",
    "pinned_empty",
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
    def __repr__(self) -> str: ...
    def attribute(self, name: typing.SupportsInt | typing.SupportsIndex | str) -> int:
        """
        One attribute, by its name or by its number in cudaDeviceAttr.

        >>> import cuscope as cs
        >>> cs.current_device().attribute("warp_size")
        32

        See cudaDeviceGetAttribute.
        """
    def can_access_peer(self, other: Device) -> bool:
        """
        Could kernels here use the memory of the other device? See cudaDeviceCanAccessPeer.
        """
    def disable_peer_access(self, other: Device) -> None:
        """
        Take back enable_peer_access. See cudaDeviceDisablePeerAccess.
        """
    def enable_peer_access(self, other: Device) -> None:
        """
        Let kernels here use the memory of the other device. See cudaDeviceEnablePeerAccess.
        """
    def limit(self, name: str) -> int:
        """
        A limit in bytes: 'stack_size', 'printf_fifo_size' or 'malloc_heap_size'. See cudaDeviceGetLimit.
        """
    def memory_info(self) -> MemoryInfo:
        """
        The free and the total memory, in bytes. See cudaMemGetInfo.

        >>> import cuscope as cs
        >>> info = cs.current_device().memory_info()
        >>> 0 < info.free <= info.total
        True
        """
    def reset(self) -> None:
        """
        Drop everything on the device. What was made on it before can only be dropped. See cudaDeviceReset.
        """
    def set_limit(self, name: str, value: typing.SupportsIndex) -> None:
        """
        Set a limit, in bytes. See cudaDeviceSetLimit.
        """
    def synchronize(self) -> None:
        """
        Wait until all work on the device is done.

        Raises what a host function of any of its streams raised, and errors of the work itself. See
        cudaDeviceSynchronize.

        >>> import cuscope as cs
        >>> cs.current_device().synchronize()
        """
    @property
    def compute_capability(self) -> tuple[int, int]:
        """
        (major, minor)
        """
    @property
    def default_stream(self) -> Stream:
        """
        The legacy default stream: its work and that of every blocking stream wait for each other.
        """
    @property
    def kind(self) -> str:
        """
        "cuda" for a GPU, "host" for a simulated device.
        """
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
        The default stream of each thread of its own (cudaStreamPerThread).
        """
    @property
    def properties(self) -> DeviceProperties:
        """
        What the device is (cudaDeviceProp).
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

    ``with stream:`` makes it the current stream of this thread, and its device the current device.

    Parameters
    ----------
    priority : int
        Smaller numbers go first; clamped to device.stream_priority_range.
    non_blocking : bool
        Do not wait for the legacy default stream, nor let it wait for this one.
    device : Device, optional
        The current device unless given.

    See cudaStreamCreateWithPriority: CUDA C++ Programming Guide, "Streams".

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
        self,
        *,
        priority: typing.SupportsInt | typing.SupportsIndex = 0,
        non_blocking: bool = False,
        device: Device | None = None,
    ) -> None: ...
    def __repr__(self) -> str: ...
    def close(self) -> None:
        """
        Let the stream go: what it was given still runs. Closing twice is no error.

        See cudaStreamDestroy.

        >>> import cuscope as cs
        >>> stream = cs.Stream()
        >>> stream.close()
        >>> stream.closed
        True
        """
    def host_function(
        self, callable: collections.abc.Callable[..., typing.Any], *args: typing.Any, **kwargs: typing.Any
    ) -> None:
        """
        Call something on the host when the stream gets here, on the runtime's own thread.

        The stream waits until it returns. What it raises is raised again by the next synchronisation of the stream. It
        may not call the runtime (cudaErrorNotPermitted). It and its arguments are kept until it has run. See
        cudaLaunchHostFunc.

        >>> import cuscope as cs
        >>> seen = []
        >>> stream = cs.Stream()
        >>> stream.host_function(seen.append, 1)
        >>> stream.synchronize()
        >>> seen
        [1]
        """
    def query(self) -> bool:
        """
        Is everything in the stream done? See cudaStreamQuery.

        >>> import cuscope as cs
        >>> cs.Stream().query()
        True
        """
    def record(self, event: Event | None = None) -> Event:
        """
        Record an event (a new one unless given) behind what the stream was given so far; returns it.

        See cudaEventRecord.

        >>> import cuscope as cs
        >>> stream = cs.Stream()
        >>> start, stop = stream.record(), stream.record()
        >>> stop.synchronize()
        >>> stop - start >= 0
        True
        """
    def synchronize(self) -> None:
        """
        Wait until everything in the stream is done.

        Raises what a host function of the stream raised (one exception a call, oldest first), and errors of the work
        itself. Ctrl-C ends the wait. See cudaStreamSynchronize.

        >>> import cuscope as cs
        >>> cs.current_stream().synchronize()
        """
    def wait(self, what: Event | Stream) -> None:
        """
        Let the stream wait for an event, or for all that another stream was given so far.

        The calling thread does not wait. An event that was never recorded is not waited for. See cudaStreamWaitEvent.

        >>> import cuscope as cs
        >>> first, second = cs.Stream(), cs.Stream()
        >>> second.wait(first.record())
        >>> second.wait(first)
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
        The cudaStream_t as an int; 1 and 2 are the default streams, 0 a closed stream. Handles are used again for other streams.
        """
    @property
    def id(self) -> int:
        """
        The runtime's number for the stream, never used twice.
        """
    @property
    def non_blocking(self) -> bool:
        """
        Is it independent of the legacy default stream?
        """
    @property
    def priority(self) -> int:
        """
        Its priority: smaller numbers go first.
        """

class Event:
    """
    A point in a stream: to wait for, and to take times between.

    Parameters
    ----------
    timing : bool
        Can times be taken? Without, recording and waiting are cheaper.
    blocking_sync : bool
        Let synchronize() sleep instead of spin.
    device : Device, optional
        The current device unless given.

    See cudaEventCreateWithFlags: CUDA C++ Programming Guide, "Events".

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
    def __repr__(self) -> str: ...
    def __sub__(self, start: Event) -> float:
        """
        The milliseconds from another event to this one; negative if it came later.

        Raises CudaError if either has not happened (cudaErrorNotReady), was not recorded or takes no times
        (cudaErrorInvalidResourceHandle). See cudaEventElapsedTime.
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
        Has it happened? An event that was never recorded has. See cudaEventQuery.

        >>> import cuscope as cs
        >>> cs.Event().query()
        True
        """
    def record(self, stream: Stream | None = None) -> Event:
        """
        Record the event behind what a stream was given so far; returns the event itself.

        The current stream unless given. Recording again moves the event. See cudaEventRecord.

        >>> import cuscope as cs
        >>> event = cs.Event().record()
        """
    def synchronize(self) -> None:
        """
        Wait until it has happened.

        Raises what a host function of the stream that it was recorded in raised. See cudaEventSynchronize.

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

    C-contiguous. Slices of the leading axis share its memory. A stream that uses the array waits for its allocation, but
    not for what other streams do with it: events are for that. The memory is freed in stream order, after every stream
    that used it, when the last array that shares it goes. Copies and fills run in the current stream unless another
    is given.

    Examples
    --------
    >>> import numpy as np, cuscope as cs
    >>> x = cs.to_device(np.arange(6, dtype=np.int32).reshape(2, 3))
    >>> x.shape, x.dtype, x.nbytes
    ((2, 3), dtype('int32'), 24)
    >>> x[1].to_host()
    array([3, 4, 5], dtype=int32)
    """
    def __array__(self, *args: typing.Any, **kwargs: typing.Any) -> numpy.typing.NDArray[typing.Any]:
        """
        Refused: use to_host().
        """
    def __getitem__(self, index: typing.SupportsIndex | slice | types.EllipsisType) -> DeviceArray:
        """
        A view of an item or a slice of the leading axis.
        """
    def __len__(self) -> int: ...
    def __repr__(self) -> str: ...
    def __setitem__(
        self, index: typing.SupportsIndex | slice | types.EllipsisType, value: typing.Any
    ) -> None:
        """
        Copy an array into, or fill, an item or a slice of the leading axis.
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
    def copy_from(
        self, source: DeviceArray | numpy.typing.ArrayLike, *, stream: Stream | None = None
    ) -> None:
        """
        Copy from an array of the same shape and dtype, on the host or on a device.

        Asynchronous from page-locked and device memory; other host memory may be changed once this returns. See
        cudaMemcpyAsync.

        >>> import numpy as np, cuscope as cs
        >>> x = cs.empty(2, np.int64)
        >>> x.copy_from(np.array([1, 2]))
        >>> x.to_host()
        array([1, 2])
        """
    def copy_to(
        self, destination: DeviceArray | numpy.typing.ArrayLike, *, stream: Stream | None = None
    ) -> None:
        """
        Copy to an array of the same shape and dtype, on the host or on a device.

        Asynchronous to page-locked and device memory: the elements are there once the stream is synchronized. Other host
        memory is filled when this returns. See cudaMemcpyAsync.

        >>> import numpy as np, cuscope as cs
        >>> y = np.empty(2, np.float32)
        >>> cs.full(2, 7.0, np.float32).copy_to(y)
        >>> y
        array([7., 7.], dtype=float32)
        """
    def fill(self, value: typing.Any, *, stream: Stream | None = None) -> None:
        """
        Set every element. TypeError or OverflowError for a value that the dtype cannot hold.

        See cudaMemsetAsync.

        >>> import numpy as np, cuscope as cs
        >>> x = cs.empty(3, np.int16)
        >>> x.fill(-5)
        >>> x.to_host()
        array([-5, -5, -5], dtype=int16)
        """
    def to_host(self, *, stream: Stream | None = None) -> numpy.typing.NDArray[typing.Any]:
        """
        Copy to a new NumPy array. Waits for the stream, and so raises what its host functions raised.

        See cudaMemcpyAsync.

        >>> import cuscope as cs
        >>> cs.zeros(3).to_host()
        array([0., 0., 0.], dtype=float32)
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
    def pointer(self) -> int:
        """
        The device address of the first element; 0 if there are none, or the array is closed.
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

    Sizes are bytes, clock rates kHz, bus widths bits; ``max_block_dim`` and ``max_grid_dim`` are (x, y, z).
    """
    def __repr__(self) -> str: ...
    @property
    def async_engine_count(self) -> int: ...
    @property
    def can_map_host_memory(self) -> bool: ...
    @property
    def clock_rate(self) -> int: ...
    @property
    def compute_capability_major(self) -> int: ...
    @property
    def compute_capability_minor(self) -> int: ...
    @property
    def concurrent_kernels(self) -> bool: ...
    @property
    def concurrent_managed_access(self) -> bool: ...
    @property
    def cooperative_launch(self) -> bool: ...
    @property
    def host_register_read_only_supported(self) -> bool: ...
    @property
    def host_register_supported(self) -> bool: ...
    @property
    def integrated(self) -> bool: ...
    @property
    def l2_cache_size(self) -> int: ...
    @property
    def managed_memory(self) -> bool: ...
    @property
    def max_block_dim(self) -> tuple[int, int, int]: ...
    @property
    def max_blocks_per_multiprocessor(self) -> int: ...
    @property
    def max_grid_dim(self) -> tuple[int, int, int]: ...
    @property
    def max_threads_per_block(self) -> int: ...
    @property
    def max_threads_per_multiprocessor(self) -> int: ...
    @property
    def memory_bus_width(self) -> int: ...
    @property
    def memory_clock_rate(self) -> int: ...
    @property
    def memory_pitch(self) -> int: ...
    @property
    def memory_pools_supported(self) -> bool: ...
    @property
    def multiprocessor_count(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def pageable_memory_access(self) -> bool: ...
    @property
    def registers_per_block(self) -> int: ...
    @property
    def registers_per_multiprocessor(self) -> int: ...
    @property
    def shared_memory_per_block(self) -> int: ...
    @property
    def shared_memory_per_block_optin(self) -> int: ...
    @property
    def shared_memory_per_multiprocessor(self) -> int: ...
    @property
    def stream_priorities_supported(self) -> bool: ...
    @property
    def texture_alignment(self) -> int: ...
    @property
    def texture_pitch_alignment(self) -> int: ...
    @property
    def total_constant_memory(self) -> int: ...
    @property
    def total_global_memory(self) -> int: ...
    @property
    def unified_addressing(self) -> bool: ...
    @property
    def warp_size(self) -> int: ...

class MemoryInfo:
    """
    The memory of a device: ``free`` and ``total``, in bytes.
    """
    def __iter__(self) -> collections.abc.Iterator[int]: ...
    def __repr__(self) -> str: ...
    @property
    def free(self) -> int: ...
    @property
    def total(self) -> int: ...

class Parameter:
    """
    What a kernel takes: ``name`` and ``type`` as in its source.

    ``kind`` is 'pointer', 'scalar' or 'opaque' (of which only the size is known), ``element`` NumPy's name for the
    scalar, or for what a pointer points to ('' where it has none), ``size`` the bytes of the parameter itself.
    """
    def __repr__(self) -> str: ...
    @property
    def element(self) -> str: ...
    @property
    def is_const(self) -> bool: ...
    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def type(self) -> str: ...

class FunctionAttributes:
    """
    What a kernel needs: the fields of cudaFuncAttributes. Sizes are bytes.
    """
    def __repr__(self) -> str: ...
    @property
    def binary_version(self) -> int: ...
    @property
    def const_size(self) -> int: ...
    @property
    def local_size(self) -> int: ...
    @property
    def max_dynamic_shared_size(self) -> int: ...
    @property
    def max_threads_per_block(self) -> int: ...
    @property
    def preferred_shared_memory_carveout(self) -> int: ...
    @property
    def ptx_version(self) -> int: ...
    @property
    def registers(self) -> int: ...
    @property
    def shared_size(self) -> int: ...

class KernelLaunch:
    """
    A kernel with its grid and block: call it with the kernel's arguments.
    """
    def __call__(self, *args: typing.Any) -> None:
        """
        Launch the kernel. See cudaLaunchKernel.
        """
    def __repr__(self) -> str: ...

class Kernel:
    """
    A __global__ function of a Module.

    ``kernel[grid, block](*args)`` launches it in the current stream of its device; ``kernel[grid, block, stream,
    shared_bytes]`` says which stream, and how much dynamic shared memory. Arguments are checked against the kernel's
    own signature: pointers take a DeviceArray of their element type (or a page-locked array, or None), scalars a number
    that they can hold, structures bytes of their size.

    See CUDA C++ Programming Guide, "Kernels".

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
    def __getitem__(self, key: tuple[typing.Any, ...]) -> KernelLaunch:
        """
        The kernel with a grid and a block, to be called.
        """
    def __repr__(self) -> str: ...
    def best_block_size(
        self, shared: typing.SupportsIndex = 0, limit: typing.SupportsInt | typing.SupportsIndex = 0
    ) -> tuple[int, int]:
        """
        (grid, block) that fill the device. See cudaOccupancyMaxPotentialBlockSize.
        """
    def launch(
        self,
        *args: typing.Any,
        grid: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex],
        block: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex],
        stream: Stream | None = None,
        shared: typing.SupportsIndex = 0,
        duration: typing.SupportsFloat | typing.SupportsIndex | None = None,
    ) -> None:
        """
        Launch the kernel, as kernel[grid, block, stream, shared](*args) does.

        ``duration`` says how many seconds the kernel takes on a simulated device; a GPU takes no notice. See
        cudaLaunchKernel.
        """
    def occupancy(
        self, block: typing.SupportsInt | typing.SupportsIndex, shared: typing.SupportsIndex = 0
    ) -> int:
        """
        How many blocks of so many threads a multiprocessor holds. See cudaOccupancyMaxActiveBlocksPerMultiprocessor.
        """
    @property
    def attributes(self) -> FunctionAttributes:
        """
        What it needs of a device. See cudaFuncGetAttributes.
        """
    @property
    def device(self) -> Device:
        """
        The device that it was loaded on.
        """
    @property
    def max_dynamic_shared(self) -> int:
        """
        How many bytes of dynamic shared memory a launch may ask for; more than 48 KiB has to be set. See cudaFuncSetAttribute.
        """
    @max_dynamic_shared.setter
    def max_dynamic_shared(self, arg1: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    @property
    def name(self) -> str:
        """
        As its source calls it.
        """
    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """
        What it takes, a Parameter each.
        """

class Module:
    """
    CUDA C++ compiled and loaded on a device, and its kernels.

    ``mod.vec_add`` and ``mod["scale<float>"]`` are Kernels.

    Parameters
    ----------
    source : str
        CUDA C++.
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
        The source does not compile; ``.log`` is the compiler's.

    See NVRTC's documentation, and CUDA Runtime API, "Library Management".

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

        The folder of a .cu file is among its include paths.
        """
    def __getattr__(self, name: str) -> Kernel:
        """
        A kernel by its name.
        """
    def __getitem__(self, name: str) -> Kernel:
        """
        A kernel by its name, such as 'scale<float>'.
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
    def __repr__(self) -> str: ...
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
        The compiled bytes: save them, and load them with from_file().
        """
    @property
    def kernels(self) -> tuple[str, ...]:
        """
        The names of its kernels.
        """
    @property
    def log(self) -> str:
        """
        What the compiler said.
        """

class Contract:
    """
    The contract of a runtime, method by method, for tests.
    """
    def add_device(self, model: str) -> tuple[typing.Any, ...]: ...
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
    def device_get_limit(
        self, limit: typing.SupportsInt | typing.SupportsIndex
    ) -> tuple[typing.Any, ...]: ...
    def device_get_stream_priority_range(self) -> tuple[typing.Any, ...]: ...
    def device_reset(self) -> str: ...
    def device_set_limit(
        self,
        limit: typing.SupportsInt | typing.SupportsIndex,
        value: typing.SupportsInt | typing.SupportsIndex,
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
    def free_async(
        self,
        pointer: typing.SupportsInt | typing.SupportsIndex,
        stream: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> str: ...
    def free_host(self, pointer: typing.SupportsInt | typing.SupportsIndex) -> str: ...
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
    def get_device(self) -> tuple[typing.Any, ...]: ...
    def get_device_count(self) -> tuple[typing.Any, ...]: ...
    def get_device_flags(self) -> tuple[typing.Any, ...]: ...
    def get_device_properties(
        self, device: typing.SupportsInt | typing.SupportsIndex
    ) -> tuple[typing.Any, ...]: ...
    def get_last_error(self) -> str: ...
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
    def host_work(self, nanoseconds: typing.SupportsInt | typing.SupportsIndex) -> None: ...
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
    def malloc_async(
        self,
        bytes: typing.SupportsInt | typing.SupportsIndex,
        stream: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> tuple[typing.Any, ...]: ...
    def mem_get_info(self) -> tuple[typing.Any, ...]: ...
    def memcpy(
        self,
        destination: typing.SupportsInt | typing.SupportsIndex,
        source: typing.SupportsInt | typing.SupportsIndex,
        bytes: typing.SupportsInt | typing.SupportsIndex,
        kind: typing.SupportsInt | typing.SupportsIndex = 4,
    ) -> str: ...
    def memcpy_async(
        self,
        destination: typing.SupportsInt | typing.SupportsIndex,
        source: typing.SupportsInt | typing.SupportsIndex,
        bytes: typing.SupportsInt | typing.SupportsIndex,
        kind: typing.SupportsInt | typing.SupportsIndex = 4,
        stream: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> str: ...
    def memset(
        self,
        pointer: typing.SupportsInt | typing.SupportsIndex,
        value: typing.SupportsInt | typing.SupportsIndex,
        bytes: typing.SupportsInt | typing.SupportsIndex,
    ) -> str: ...
    def memset_async(
        self,
        pointer: typing.SupportsInt | typing.SupportsIndex,
        value: typing.SupportsInt | typing.SupportsIndex,
        bytes: typing.SupportsInt | typing.SupportsIndex,
        stream: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> str: ...
    def occupancy_max_active_blocks_per_multiprocessor(
        self,
        kernel: typing.SupportsInt | typing.SupportsIndex,
        block_size: typing.SupportsInt | typing.SupportsIndex,
        dynamic_shared: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> tuple[typing.Any, ...]: ...
    def occupancy_max_potential_block_size(
        self,
        kernel: typing.SupportsInt | typing.SupportsIndex,
        dynamic_shared: typing.SupportsInt | typing.SupportsIndex = 0,
        block_size_limit: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> tuple[typing.Any, ...]: ...
    def peek_at_last_error(self) -> str: ...
    def pointer_get_attributes(
        self, pointer: typing.SupportsInt | typing.SupportsIndex
    ) -> tuple[typing.Any, ...]: ...
    def runtime_get_version(self) -> tuple[typing.Any, ...]: ...
    def set_device(self, device: typing.SupportsInt | typing.SupportsIndex) -> str: ...
    def set_device_flags(self, flags: typing.SupportsInt | typing.SupportsIndex) -> str: ...
    def simulated(self) -> bool: ...
    def stream_create_with_priority(
        self,
        flags: typing.SupportsInt | typing.SupportsIndex = 0,
        priority: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> tuple[typing.Any, ...]: ...
    def stream_destroy(self, stream: typing.SupportsInt | typing.SupportsIndex) -> str: ...
    def stream_get_flags(
        self, stream: typing.SupportsInt | typing.SupportsIndex
    ) -> tuple[typing.Any, ...]: ...
    def stream_get_id(self, stream: typing.SupportsInt | typing.SupportsIndex) -> tuple[typing.Any, ...]: ...
    def stream_get_priority(
        self, stream: typing.SupportsInt | typing.SupportsIndex
    ) -> tuple[typing.Any, ...]: ...
    def stream_query(self, stream: typing.SupportsInt | typing.SupportsIndex) -> str: ...
    def stream_synchronize(self, stream: typing.SupportsInt | typing.SupportsIndex) -> str: ...
    def stream_wait_event(
        self,
        stream: typing.SupportsInt | typing.SupportsIndex,
        event: typing.SupportsInt | typing.SupportsIndex,
        flags: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> str: ...

class FaultDevice:
    """
    A device whose calls can be made to fail.
    """
    def __init__(self, name: str) -> None: ...
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

def add_host_device(model: str = "h200") -> Device:
    """
    Add a simulated device of a named model, such as 'h200' or 'fermi'.

    Raises ValueError for a model that is not there; the message lists those there are.

    >>> import cuscope as cs
    >>> cs.add_host_device("h200").model
    'h200 model'
    """

def cache_description() -> str:
    """
    The folder of compiled kernels, or why there is none.
    """

def clock() -> float:
    """
    The host's time in seconds, as the runtime of the current device sees it.

    Simulated on a simulated device, the monotonic clock on a GPU: one program can time itself on both.

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

def current_device() -> Device:
    """
    The current device of this thread.

    That of the innermost ``with``, else what set_device() set, else the first of devices(), or the one that the
    environment variable CUSCOPE_DEVICE names. See cudaGetDevice.

    >>> import cuscope as cs
    >>> cs.current_device() in cs.devices()
    True
    """

def current_stream() -> Stream:
    """
    The current stream of this thread: that of the innermost ``with`` on the current device, else the
    device's legacy default stream.

    >>> import cuscope as cs
    >>> with cs.Stream() as stream:
    ...     cs.current_stream() is stream
    True
    """

def devices() -> list[Device]:
    """
    All devices: GPUs first, then the simulated ones. Never raises: what has no driver has no devices.

    >>> import cuscope as cs
    >>> cs.Device("host:0") in cs.devices()
    True
    """

def empty(
    shape: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex],
    dtype: numpy.typing.DTypeLike = ...,
    *,
    stream: Stream | None = None,
) -> DeviceArray:
    """
    A new array on the current device (or that of the stream), with whatever the memory holds.

    Raises ValueError for a negative or impossible shape, TypeError for a dtype of Python objects, OutOfMemoryError.
    See cudaMallocAsync.

    >>> import cuscope as cs
    >>> cs.empty((2, 3)).shape
    (2, 3)
    """

def full(
    shape: typing.SupportsIndex | collections.abc.Sequence[typing.SupportsIndex],
    value: typing.Any,
    dtype: numpy.typing.DTypeLike | None = None,
    *,
    stream: Stream | None = None,
) -> DeviceArray:
    """
    A new array with one value everywhere; the dtype is the value's own unless given. See DeviceArray.fill.

    >>> import numpy as np, cuscope as cs
    >>> cs.full(2, 1.5, np.float32).to_host()
    array([1.5, 1.5], dtype=float32)
    """

def host_work(seconds: typing.SupportsFloat | typing.SupportsIndex) -> None:
    """
    Spend the host's time, as clock() measures it: the simulated host is busy for that long.

    >>> import cuscope as cs
    >>> cs.host_work(1e-6)
    """

def live() -> dict[str, int]:
    """
    How many of what is alive: for tests that look for leaks.
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
    portable : bool
        Page-locked for all devices of the runtime, not only for this one.
    mapped : bool
        Kernels may read and write it.
    write_combined : bool
        Faster to write for the host, very slow to read.
    device : Device, optional
        The current device unless given.

    See cudaHostAlloc: CUDA C++ Programming Guide, "Page-Locked Host Memory".

    >>> import numpy as np, cuscope as cs
    >>> h = cs.pinned_empty((2, 4), np.int32)
    >>> h[:] = 3
    >>> cs.to_device(h[1]).to_host()
    array([3, 3, 3, 3], dtype=int32)
    """

def runtime_answers() -> list[dict[str, typing.Any]]:
    """
    What each runtime of this build answers when it is asked for its devices.
    """

def set_device(device: Device) -> None:
    """
    Make a device the current one of this thread, until it is changed. See cudaSetDevice.

    Inside a ``with``, until that is left.

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
    Wait until all work on a device (the current one unless given) is done. See Device.synchronize.

    >>> import cuscope as cs
    >>> cs.synchronize()
    """

def to_device(source: DeviceArray | numpy.typing.ArrayLike, *, stream: Stream | None = None) -> DeviceArray:
    """
    A new array with the elements of a NumPy array, or of anything that NumPy makes one of.

    Asynchronous if the source is page-locked, which then stays alive until it was copied; other memory may be changed
    once this returns. See cudaMemcpyAsync.

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
    stream: Stream | None = None,
) -> DeviceArray:
    """
    A new array of zeros, filled in stream order. See empty() and cudaMemsetAsync.

    >>> import cuscope as cs
    >>> cs.zeros(2).to_host()
    array([0., 0.], dtype=float32)
    """

build_config: dict[str, str]
