// What nvcc's device pass keeps of a source that holds host code too: kernels, device functions and
// variables, and the types, constants and functions that these name. The rest (main, host functions and
// methods, launches) becomes blanks, so that lines and columns stay.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cuscope {

enum class HostCode {
    // A function without __device__ that a kernel calls is kept; and all of a source in which nothing is for
    // hosts only.
    keep_called,
    // A function without __device__ that a kernel calls is kept, and no other one.
    drop_uncalled,
    // Such a function is an error for the compiler, and so is any method that is not __device__.
    drop,
    // Functions and variables of the host go even if kernels seem to name them: a parameter of a kernel may
    // be called as a variable of the host is. Constants stay.
    drop_named,
};

struct DevicePart {
    std::vector<std::string> texts;  // as many as there were
    // Instances of kernels that host code launches: "ns::scale<float, 4>". They may not compile, where their
    // arguments mean something in the host function only.
    std::vector<std::string> instances;
};

// Of a source and the headers that it includes, each before or after the preprocessor. `named`: what else has
// to be kept for: name expressions.
DevicePart device_part(const std::vector<std::string_view>& texts, const std::vector<std::string>& named,
                       HostCode host_code);

}  // namespace cuscope
