// Names of statuses.
#pragma once

#include <string>

#include "runtime/status.hpp"

namespace cuscope::bindings {

// Throws std::invalid_argument for an unknown name.
Status status_of(const std::string& name);

}  // namespace cuscope::bindings
