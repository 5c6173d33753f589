// Statuses by name.
#pragma once

#include <string>

#include "runtime/status.hpp"

namespace cuscope::bindings {

// Throws std::invalid_argument for what is no name of one.
Status status_of(const std::string& name);

}  // namespace cuscope::bindings
