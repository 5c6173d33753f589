// New NumPy arrays for the elements of device arrays.
#pragma once

#include <pybind11/numpy.h>

#include <memory>
#include <vector>

#include "bindings/support/python.hpp"
#include "core/memory/host_blocks.hpp"

namespace cuscope::bindings {

// A C-contiguous NumPy array with uninitialised elements, which owns its memory.
struct HostArray {
    HostArray(const py::dtype& dtype, const std::vector<py::ssize_t>& shape);

    py::array array;
    std::unique_ptr<core::ThreadTeam> touching;  // touches the pages of a large array meanwhile
};

}  // namespace cuscope::bindings
