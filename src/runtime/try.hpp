// TRY(expression): returns from the function if the expression is a Status other than success. Variadic,
// since an expression may have commas that the preprocessor does not know to be inside of braces.
#pragma once

#include "runtime/status.hpp"

#define TRY(...)                                                                                \
    do {                                                                                        \
        if (const ::cuscope::Status tried = (__VA_ARGS__); tried != ::cuscope::Status::success) \
            return tried;                                                                       \
    } while (false)
