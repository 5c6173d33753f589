// Which devices take part in the check of the order of commands: see runtime/order.
#pragma once

#include <memory>
#include <string>

#include "core/device/device.hpp"
#include "runtime/order/order_runtime.hpp"

namespace cuscope::core {

// The decorator of a kind of devices; made once and kept.
std::shared_ptr<order::OrderRuntime> order_runtime(const std::string& kind);

// With the first check that begins, and after the last one that ends.
void begin_order_check();
void end_order_check();
// Lets a new device take part in the check that runs.
void check_order_of(Device& device);

}  // namespace cuscope::core
