// The rules between the fields of a device model.
#pragma once

#include <string>

#include "host/sim/device_model.hpp"

namespace cuscope::host {

// The fields that contradict each other, with their values and the reason; empty if the simulation can run
// the model. The range of each field was checked before.
std::string contradiction(const DeviceModel& model);

}  // namespace cuscope::host
