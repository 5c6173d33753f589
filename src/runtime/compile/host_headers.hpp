// Stand-ins for headers of libraries that only host code uses: cuBLAS, the profiler, the samples' helpers,
// OpenGL. Sources include them beside their kernels. The libraries' own headers declare functions of the
// host, which a compiler of kernels rejects.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace cuscope {

using HeaderTexts = std::vector<std::pair<std::string, std::string>>;

// Headers of CUDA's libraries, by the names in #include. They replace installed headers. They define the
// types of the libraries' handles, and no functions.
const HeaderTexts& host_library_headers();
// Headers of other libraries. They are empty, and used only if no such header is found.
const HeaderTexts& missing_host_headers();

}  // namespace cuscope
