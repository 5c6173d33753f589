// Status: the result of every call of the contract. Its numbers, names and texts are those of cudaError_t.
#pragma once

namespace cuscope {

enum class Status : int {
#define CUSCOPE_STATUS(number, enumerator, name, text) enumerator = number,
#include "status_codes.inc"
#undef CUSCOPE_STATUS
};

// "cudaErrorInvalidValue"; "unrecognized error code" for a number that is no code.
const char* name(Status status) noexcept;
// "invalid argument"; "unrecognized error code" for a number that is no code.
const char* text(Status status) noexcept;
// The device of the call is lost: every later call on it answers the same until the process ends.
bool is_sticky(Status status) noexcept;

}  // namespace cuscope
