// Headers of libraries that only host code uses: cuBLAS, the profiler, the samples' helpers, OpenGL. Sources
// include them beside their kernels; the libraries' own headers declare functions of the host, which no
// compiler of kernels takes.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace cuscope {

using HeaderTexts = std::vector<std::pair<std::string, std::string>>;

// Of CUDA's libraries, by the names that #include gives: taken in place of what is installed. They hold the
// types of the libraries' handles and no functions.
const HeaderTexts& host_library_headers();
// Of others: empty, and taken where no such header is found.
const HeaderTexts& missing_host_headers();

}  // namespace cuscope
