// Looks up a word in a constant list.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace cuscope::simt {

template <std::size_t n>
bool holds(const std::array<std::string_view, n>& list, std::string_view word) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

}  // namespace cuscope::simt
