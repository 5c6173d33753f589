// Status: the result of every contract call. Its numbers, names and texts equal cudaError_t's.
#pragma once

namespace cuscope {

enum class Status : int {
#define CUSCOPE_STATUS(number, enumerator, name, text) enumerator = number,
#include "status_codes.inc"
#undef CUSCOPE_STATUS
};

// For example "cudaErrorInvalidValue"; "unrecognized error code" for an unknown number.
const char* name(Status status) noexcept;
// For example "invalid argument"; "unrecognized error code" for an unknown number.
const char* text(Status status) noexcept;
// True if the error means that the device is lost: every later call on it returns the same error until the
// process ends.
bool is_sticky(Status status) noexcept;

}  // namespace cuscope
