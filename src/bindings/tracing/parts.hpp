// The records of one runtime as Python reads them: python/cuscope/tracing/records.py.
#pragma once

#include "bindings/support/python.hpp"
#include "core/trace/recording.hpp"

namespace cuscope::bindings {

// `owner` keeps the part alive: the records are views of its memory.
py::dict dict_of_part(const core::Recording::Part& part, const py::object& owner);

}  // namespace cuscope::bindings
