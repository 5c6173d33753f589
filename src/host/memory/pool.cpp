#include "host/memory/pool.hpp"

#include "host/runtime/thread_state.hpp"

namespace cuscope::host {

std::uint64_t Pool::setting(MemPoolAttribute attribute) const {
    const auto found = settings.find(static_cast<int>(attribute));
    if (found != settings.end()) return found->second;
    return attribute == MemPoolAttribute::release_threshold ? 0 : 1;
}

Status Pool::get_attribute(MemPoolAttribute attribute, std::uint64_t* value) const {
    switch (attribute) {
        case MemPoolAttribute::reserved_current:
            *value = reserved;
            return Status::success;
        case MemPoolAttribute::reserved_high:
            *value = reserved_high;
            return Status::success;
        case MemPoolAttribute::used_current:
            *value = used;
            return Status::success;
        case MemPoolAttribute::used_high:
            *value = used_high;
            return Status::success;
        case MemPoolAttribute::reuse_follow_event_dependencies:
        case MemPoolAttribute::reuse_allow_opportunistic:
        case MemPoolAttribute::reuse_allow_internal_dependencies:
        case MemPoolAttribute::release_threshold:
            *value = setting(attribute);
            return Status::success;
    }
    return fail(Status::invalid_value);
}

Status Pool::set_attribute(MemPoolAttribute attribute, std::uint64_t value) {
    switch (attribute) {
        case MemPoolAttribute::reserved_high:
        case MemPoolAttribute::used_high:
            if (value != 0) return fail(Status::invalid_value, "a high-water mark can only be set to 0");
            (attribute == MemPoolAttribute::used_high ? used_high : reserved_high) =
                attribute == MemPoolAttribute::used_high ? used : reserved;
            return Status::success;
        case MemPoolAttribute::reuse_follow_event_dependencies:
        case MemPoolAttribute::reuse_allow_opportunistic:
        case MemPoolAttribute::reuse_allow_internal_dependencies:
            settings[static_cast<int>(attribute)] = value != 0 ? 1 : 0;
            return Status::success;
        case MemPoolAttribute::release_threshold:
            settings[static_cast<int>(attribute)] = value;
            return Status::success;
        case MemPoolAttribute::reserved_current:
        case MemPoolAttribute::used_current:
            break;
    }
    return fail(Status::invalid_value, "the attribute can only be read");
}

}  // namespace cuscope::host
