// Page-locked memory as NumPy arrays.
#include <pybind11/stl.h>

#include "bindings/support/objects.hpp"
#include "ops/kernel_library.hpp"
#include "runtime/checking.hpp"

namespace cuscope::bindings {
namespace {

using Owner = SharedOwner<core::PinnedMemory>;

NDArray pinned_empty(const ShapeLike& shape, const DTypeLike& dtype, bool portable, bool mapped,
                     bool write_combined, const DeviceLike& device) {
    const std::vector<py::ssize_t> extents = parse_shape(shape);
    const py::dtype type =
        parse_dtype(dtype.is_none() ? py::module_::import("numpy").attr("float32") : py::object(dtype));
    const std::size_t bytes = byte_count(extents, type);
    const core::DevicePtr on = device_or_current(device);
    if (bytes == 0) return NDArray(py::array(type, extents));
    const unsigned flags = (portable ? flags::host_alloc_portable : 0u) |
                           (mapped ? flags::host_alloc_mapped : 0u) |
                           (write_combined ? flags::host_alloc_write_combined : 0u);
    auto owner = std::make_unique<Owner>(without_gil([&] {
        ops::KernelLibrary::load_ahead(*on);
        return core::PinnedMemory::allocate(on, bytes, flags);
    }));
    void* const data = owner->get()->pointer();
    const py::capsule base(owner.get(), [](void* held) { delete static_cast<Owner*>(held); });
    owner.release();
    py::array made(type, extents, data, base);
    if (checking()) [[unlikely]] {
        describe_memory(data, py::str(type), py::str(py::tuple(py::cast(extents))),
                        static_cast<std::size_t>(type.itemsize()));
        made = py::module_::import("cuscope._watched").attr("watch")(made);
    }
    return NDArray(made);
}

}  // namespace

void bind_pinned(py::module_& m) {
    m.def("pinned_empty", pinned_empty, py::arg("shape"),
          py::arg_v("dtype", py::module_::import("numpy").attr("float32"), "numpy.float32"), py::kw_only(),
          py::arg("portable") = false, py::arg("mapped") = false, py::arg("write_combined") = false,
          py::arg("device") = py::none(),
          R"(A NumPy array in page-locked memory. Its elements are not initialised.

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
)");
}

}  // namespace cuscope::bindings
