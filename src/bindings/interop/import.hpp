// Arrays and streams of other libraries, through the protocols __cuda_array_interface__, DLPack and
// __cuda_stream__.
#pragma once

#include <optional>

#include "bindings/interop/dlpack.hpp"

namespace cuscope::bindings {

// The layout of another library's array.
struct ForeignLayout {
    std::uintptr_t address = 0;  // of the first element
    std::vector<py::ssize_t> shape;
    std::vector<py::ssize_t> strides;  // bytes; empty: C-contiguous
    py::dtype dtype;
    bool read_only = false;
};

// The stream that has the work on another library's array: one of ours, or the handle of one of the other
// library's. Neither: there is nothing to wait for.
struct ForeignOrder {
    core::StreamPtr ready;
    StreamHandle theirs = nullptr;
    bool in_order = false;  // the stream waits in turn when the array is given up
};

// A device array over another library's memory, which `owner` keeps alive. The runtimes are asked where the
// memory is, the one of `near` first. Streams that use the array wait for the work given to the stream of
// `order` so far.
DeviceArray adopt(const ForeignLayout& layout, const core::DevicePtr& near, std::shared_ptr<void> owner,
                  const ForeignOrder& order);

// Another library's array in a device's memory, without a copy. Work given to `stream` from here on sees its
// content. Nothing for objects that are not such an array.
std::optional<DeviceArray> foreign_array(py::handle object, const core::StreamPtr& stream);
// Would foreign_array() find an array?
bool is_foreign_array(py::handle object);
// A stream of another library; null for other objects.
StreamObjectPtr foreign_stream(py::handle object, const core::DevicePtr& near);

// The `copy` of array protocols: True, False or None.
std::optional<bool> parse_copy(const py::object& copy);

// The attribute of an object; null if it does not have it.
py::object optional_attribute(py::handle object, const char* name);

// For an object's __cuda_array_interface__, which may have any type.
bool states_its_stream(const py::object& interface);
bool says_read_only(const py::object& interface);
DeviceArray from_cuda_array_interface(const py::object& object, const py::object& interface,
                                      const core::DevicePtr& near);
// For an object with __dlpack__ on a device other than the CPU.
DeviceArray from_dlpack_object(const py::object& object, const core::StreamPtr& stream);
// For a capsule, which is consumed.
DeviceArray from_dlpack_capsule(const py::object& capsule, const core::DevicePtr& near,
                                const core::StreamPtr& ready);
// For the content of a capsule, which is consumed even if this throws.
DeviceArray from_dlpack_tensor(DLManagedTensorVersioned* tensor, const core::DevicePtr& near,
                               const core::StreamPtr& ready);
// For an object whose type publishes the C functions of DLPack 1.3. Nothing if it has none, or if only its
// method __dlpack__ can tell whether and how the array may be handed over.
std::optional<DeviceArray> from_dlpack_functions(const py::object& object, const core::StreamPtr& stream);
// The device of cuscope for a device of DLPack, (type, id). Throws BufferError if there is none.
core::DevicePtr device_of_dlpack(std::pair<int, int> device, const core::DevicePtr& near);
std::pair<int, int> dlpack_device_of(const py::object& object);

// Exports device arrays to other libraries.
py::dict cuda_array_interface(const DeviceArray& array);
std::pair<int, int> dlpack_device(const DeviceArray& array);
py::object to_dlpack(const DeviceArray& array, const py::object& stream, const py::object& max_version,
                     const py::object& dl_device, const py::object& copy);
NDArray host_view(const DeviceArray& array);
// For a consumer that works in the current stream of this thread, which waits for the array's allocation.
DLManagedTensorVersioned* to_dlpack_tensor(const DeviceArray& array);
// A new array for another library, which need not hold the GIL.
DLManagedTensorVersioned* new_dlpack_tensor(const DLTensor& prototype);
// The C functions of DLPack 1.3 for arrays of cuscope.
py::object dlpack_functions();

}  // namespace cuscope::bindings
