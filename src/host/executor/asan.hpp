// Detects AddressSanitizer. GCC and clang announce it in different ways.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define CUSCOPE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CUSCOPE_ASAN 1
#endif
#endif
#if defined(CUSCOPE_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
