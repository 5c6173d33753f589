// Handles a marker directly behind a linkage: `extern "C"__global__ void f()`. nvcc accepts it.
#pragma once

#include <string>
#include <string_view>

namespace cuscope {

// NVRTC and clang read `"C"__global__` as a literal with a user-defined suffix. So this inserts a space.
inline std::string with_space_behind_linkage(std::string source) {
    constexpr std::string_view linkage = "\"C\"_";
    for (std::size_t at = source.find(linkage); at != std::string::npos; at = source.find(linkage, at))
        source.insert(at + linkage.size() - 1, 1, ' ');
    return source;
}

}  // namespace cuscope
