// A marker right behind a linkage: `extern "C"__global__ void f()`, which nvcc takes.
#pragma once

#include <string>
#include <string_view>

namespace cuscope {

// NVRTC and clang take `"C"__global__` for a literal with a suffix of the program's own.
inline std::string with_space_behind_linkage(std::string source) {
    constexpr std::string_view linkage = "\"C\"_";
    for (std::size_t at = source.find(linkage); at != std::string::npos; at = source.find(linkage, at))
        source.insert(at + linkage.size() - 1, 1, ' ');
    return source;
}

}  // namespace cuscope
