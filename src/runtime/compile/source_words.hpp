// Words that identify declarations of a CUDA source, and host code.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace cuscope {

inline bool one_of(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

inline bool is_marker(std::string_view word) {
    return one_of(word, {"__global__", "__device__", "__constant__", "__managed__", "__shared__"});
}

// Words that are followed by parentheses of their own, which are not a function's parameters.
inline bool takes_parentheses(std::string_view word) {
    return one_of(
        word, {"__attribute__", "__attribute", "alignas", "__align__", "decltype", "__declspec",
               "__launch_bounds__", "__maxnreg__", "__cluster_dims__", "__block_size__", "noexcept", "sizeof",
               "__typeof__", "typeof", "asm", "__asm__", "explicit", "requires", "__builtin_align__"});
}

inline bool is_class_key(std::string_view word) { return one_of(word, {"class", "struct", "union", "enum"}); }

// Words that can follow the parameters of a function.
inline bool follows_parameters(std::string_view word) {
    return one_of(word, {"{", ";", ":", "const", "noexcept", "->", "=", ",", "try", "override", "final",
                         "volatile", "&", "requires", "__attribute__", "throw", "["});
}

// Functions of the runtime that a kernel may call.
inline bool is_device_call(std::string_view word) {
    return one_of(word, {"cudaGraphLaunch", "cudaGetCurrentGraphExec", "cudaGraphSetConditional",
                         "cudaGridDependencySynchronize", "cudaTriggerProgrammaticLaunchCompletion",
                         "cudaOccupancyMaxActiveBlocksPerMultiprocessor", "cudaGetParameterBuffer"});
}

// cudaMalloc, cublasCreate: a function of CUDA's host libraries.
inline bool is_host_call(std::string_view word) {
    for (const std::string_view prefix :
         {"cuda", "cublas", "cufft", "cusparse", "cusolver", "cudnn", "curand", "nccl"})
        if (word.size() > prefix.size() && word.substr(0, prefix.size()) == prefix)
            return word[prefix.size()] >= 'A' && word[prefix.size()] <= 'Z' && !is_device_call(word);
    return false;
}

// Functions of the C library that end or leave the process. No device has them, so a function that calls one
// is not meant for kernels.
inline bool is_process_call(std::string_view word) {
    return one_of(word, {"exit", "_Exit", "_exit", "quick_exit", "abort", "atexit", "system", "getenv",
                         "fork", "raise", "sleep", "usleep"});
}

}  // namespace cuscope
