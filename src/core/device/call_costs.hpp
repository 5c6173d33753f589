// What calls of a runtime cost the thread that makes them. For cuscope.calibrate().
#pragma once

#include <map>
#include <string>

#include "core/module/module.hpp"

namespace cuscope::core {

// Nanoseconds by the names of CallCosts, as in the fields call_..._ns of device models. Calls that the device
// does not support are left out. `kernel` takes no arguments. Waits for the stream, and makes it work.
std::map<std::string, double> measure_call_costs(const Kernel& kernel, const StreamPtr& stream);

}  // namespace cuscope::core
