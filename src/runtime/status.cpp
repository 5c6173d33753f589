#include "runtime/status.hpp"

namespace cuscope {

const char* name(Status status) noexcept {
    switch (static_cast<int>(status)) {
#define CUSCOPE_STATUS(number, enumerator, name, text) \
    case number:                                       \
        return #name;
#include "status_codes.inc"
#undef CUSCOPE_STATUS
    }
    return "unrecognized error code";
}

const char* text(Status status) noexcept {
    switch (static_cast<int>(status)) {
#define CUSCOPE_STATUS(number, enumerator, name, text) \
    case number:                                       \
        return text;
#include "status_codes.inc"
#undef CUSCOPE_STATUS
    }
    return "unrecognized error code";
}

bool is_sticky(Status status) noexcept {
    switch (status) {
        case Status::illegal_address:
        case Status::launch_timeout:
        case Status::assert_:
        case Status::hardware_stack_error:
        case Status::illegal_instruction:
        case Status::misaligned_address:
        case Status::invalid_address_space:
        case Status::invalid_pc:
        case Status::launch_failure:
        case Status::ecc_uncorrectable:
        case Status::tensor_memory_leak:
        case Status::contained:
        case Status::external_device:
            return true;
        default:
            return false;
    }
}

}  // namespace cuscope
