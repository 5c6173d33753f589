// Arrays and streams of other libraries, by the protocols that they speak: __cuda_array_interface__, DLPack
// and __cuda_stream__.
#pragma once

#include <optional>

#include "bindings/support/objects.hpp"

namespace cuscope::bindings {

// What another library says of its array.
struct ForeignLayout {
    std::uintptr_t address = 0;  // of the first element
    std::vector<py::ssize_t> shape;
    std::vector<py::ssize_t> strides;  // bytes; empty: C-contiguous
    py::dtype dtype;
    bool read_only = false;
};

// An array over memory of another library, which `owner` keeps alive: where it lies is asked of the runtimes,
// that of `near` first. Streams that use it wait for what `ready` was given so far (null: for nothing); if
// `in_order`, that stream waits in turn when the array is given up.
DeviceArray adopt(const ForeignLayout& layout, const core::DevicePtr& near, std::shared_ptr<void> owner,
                  const core::StreamPtr& ready, bool in_order);
// The device in whose memory an address lies; null if it is none that kernels know.
core::DevicePtr device_of(std::uintptr_t address, const core::DevicePtr& near);

// An array of another library in a device's memory, seen without a copy: what `stream` is given from here on
// finds its content. Nothing for objects that are no such array.
std::optional<DeviceArray> foreign_array(py::handle object, const core::StreamPtr& stream);
// Would foreign_array() find an array?
bool is_foreign_array(py::handle object);
// A stream of another library; null for objects that are none.
StreamObjectPtr foreign_stream(py::handle object, const core::DevicePtr& near);

// The `copy` of array protocols: True, False or None.
std::optional<bool> parse_copy(const py::object& copy);

// The attribute of an object; null if it has none.
py::object optional_attribute(py::handle object, const char* name);

// Of an object's __cuda_array_interface__, whatever it is.
bool states_its_stream(const py::object& interface);
bool says_read_only(const py::object& interface);
DeviceArray from_cuda_array_interface(const py::object& object, const py::object& interface,
                                      const core::DevicePtr& near);
// Of an object with __dlpack__, whose device is not the CPU.
DeviceArray from_dlpack_object(const py::object& object, const core::StreamPtr& stream);
// Of a capsule, which is consumed.
DeviceArray from_dlpack_capsule(const py::object& capsule, const core::DevicePtr& near,
                                const core::StreamPtr& ready);
std::pair<int, int> dlpack_device_of(const py::object& object);

// Our arrays as others want to see them.
py::dict cuda_array_interface(const DeviceArray& array);
std::pair<int, int> dlpack_device(const DeviceArray& array);
py::object to_dlpack(const DeviceArray& array, const py::object& stream, const py::object& max_version,
                     const py::object& dl_device, const py::object& copy);
NDArray host_view(const DeviceArray& array);

}  // namespace cuscope::bindings
