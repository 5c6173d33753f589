// Device models that are made from another one.
#pragma once

#include "host/sim/device_model.hpp"

namespace cuscope::host {

// Each takes the model "h200".
DeviceModel h100_of(DeviceModel model);
DeviceModel a100_of(DeviceModel model);
DeviceModel no_overlap_of(DeviceModel model);

}  // namespace cuscope::host
