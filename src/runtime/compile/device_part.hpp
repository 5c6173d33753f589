// Extracts from a source the part that nvcc's device pass keeps: kernels, device functions and variables, and
// the types, constants and functions that these use. The rest (main, host functions and methods, launches) is
// replaced by blanks, so that lines and columns stay the same.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cuscope {

enum class HostCode {
    // Keeps functions without __device__ that a kernel calls. If the source has no host code, keeps all of
    // it.
    keep_called,
    // Keeps functions without __device__ that a kernel calls, and no other functions without __device__.
    drop_uncalled,
    // For a compiler that rejects calls of functions without __device__. Also drops methods without
    // __device__.
    drop,
    // Also drops functions and variables of the host that kernels seem to use: a kernel's parameter may have
    // the same name as a variable of the host. Constants stay.
    drop_named,
};

struct DevicePart {
    std::vector<std::string> texts;  // one for each given text
    // Instances of kernels that host code launches: "ns::scale<float, 4>". An instance may not compile, if
    // its arguments have a meaning only in the host function.
    std::vector<std::string> instances;
};

// `texts`: a source and the headers that it includes, before or after preprocessing. `named`: name
// expressions; the part that they need is kept as well.
DevicePart device_part(const std::vector<std::string_view>& texts, const std::vector<std::string>& named,
                       HostCode host_code);

}  // namespace cuscope
