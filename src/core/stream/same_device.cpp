#include "core/stream/same_device.hpp"

#include <stdexcept>
#include <string>

#include "core/device/device.hpp"

namespace cuscope::core {

void fail_same_device(const SameDeviceWords& words, const Device& device, const Stream& stream) {
    const std::string what(words.what);
    const std::string named = words.name.empty() ? what : what + " " + std::string(words.name);
    throw std::invalid_argument("the " + named + " is on " + device.name() + ", the " +
                                std::string(words.stream) + " on " + stream.device().name() + ": " +
                                std::string(words.verb) + " a stream of the " + what + "'s device");
}

}  // namespace cuscope::core
