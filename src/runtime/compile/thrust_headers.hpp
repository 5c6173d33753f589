// Thrust's headers, as sources include them for their host code.
#pragma once

#include "runtime/compile/host_headers.hpp"

namespace cuscope {

// Names and texts. They hold the types that host code and functors name; an algorithm that a kernel calls is
// refused.
const HeaderTexts& thrust_headers();

}  // namespace cuscope
