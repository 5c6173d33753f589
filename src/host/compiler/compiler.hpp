// CUDA C++ to an image that this machine's CPU runs: preprocess, find the kernels, append what registers
// them, compile with the host's C++ compiler, keep the result in the cache.
#pragma once

#include "runtime/status.hpp"
#include "runtime/types.hpp"

namespace cuscope::simt {

// What the source is compiled for: __CUDA_ARCH__ and the like.
struct Target {
    int compute_capability_major = 9, compute_capability_minor = 0;
};

// The contract's Runtime::compile for the host: see there. An option or header name that cannot be used is
// Status::invalid_value, a compilation of more than CUSCOPE_COMPILE_TIMEOUT Status::timeout; the log says
// why. Status::not_ready if cuscope::interrupted().
Status compile(const CompileRequest& request, const Target& target, CompileResult* result);

}  // namespace cuscope::simt
