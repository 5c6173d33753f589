// The check that a stream belongs to the device of the object that it is used with.
#pragma once

#include <string_view>

#include "core/stream/stream.hpp"

namespace cuscope::core {

// Words of the message: "the `what` `name` is on cuda:0, the `stream` on cuda:1: `verb` a stream of the
// `what`'s device".
struct SameDeviceWords {
    std::string_view what;
    std::string_view name = {};
    std::string_view stream = "stream";
    std::string_view verb = "use";
};

[[noreturn]] void fail_same_device(const SameDeviceWords& words, const Device& device, const Stream& stream);

// Throws std::invalid_argument if `device`, the device of an array, a kernel, ..., is not the stream's.
inline void check_same_device(const SameDeviceWords& words, const Device& device, const Stream& stream) {
    if (&stream.device() != &device) fail_same_device(words, device, stream);
}

}  // namespace cuscope::core
