// The parts of the C++ library that <math.h> includes in C++17 for its special functions: std::min,
// std::pair, std::numeric_limits, ... Included before sources that may use them without their own #include.
#pragma once
#pragma GCC system_header

#include <limits>
#if __has_include(<bits/stl_algobase.h>)
#include <bits/stl_algobase.h>
#endif
