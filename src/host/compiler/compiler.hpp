// Compiles CUDA C++ to an image that this machine's CPU runs: preprocess, find the kernels, append the code
// that registers them, compile with the host's C++ compiler, keep the result in the cache.
#pragma once

#include "runtime/status.hpp"
#include "runtime/types.hpp"

namespace cuscope::simt {

// The compute capability that the source is compiled for: __CUDA_ARCH__ and related macros.
struct Target {
    int compute_capability_major = 9, compute_capability_minor = 0;
};

// The host's Runtime::compile; see the contract. The log gives the reason for an error: Status::invalid_value
// for an option or header name that cannot be used, Status::timeout for a compilation longer than
// CUSCOPE_COMPILE_TIMEOUT. Status::not_ready if cuscope::interrupted().
Status compile(const CompileRequest& request, const Target& target, CompileResult* result);

}  // namespace cuscope::simt
