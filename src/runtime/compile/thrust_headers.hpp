// Stand-ins for Thrust's headers, for sources that include them for their host code.
#pragma once

#include "runtime/compile/host_headers.hpp"

namespace cuscope {

// Names and texts. They define the types that host code and functors use. A call of an algorithm from a
// kernel is an error.
const HeaderTexts& thrust_headers();

}  // namespace cuscope
