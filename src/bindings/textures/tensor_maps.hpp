// The contents of Python's TensorMap.
#pragma once

#include <string>
#include <vector>

#include "bindings/support/objects.hpp"
#include "core/memory/tensor_map.hpp"

namespace cuscope::bindings {

struct TensorMap {
    Held<const core::TensorMap> open() const {
        Held<const core::TensorMap> held = map.get();
        if (!held) throw std::invalid_argument("TensorMap is closed");
        return held;
    }
    core::DevicePtr device;
    SharedOwner<const core::TensorMap> map;  // empty once closed
    std::vector<py::ssize_t> shape;
    py::dtype dtype;
    TensorMapDescription description;
};

// Sets a tensor map as the argument of a kernel; false for other objects.
bool set_tensor_map(core::Argument& argument, py::handle object);

}  // namespace cuscope::bindings
