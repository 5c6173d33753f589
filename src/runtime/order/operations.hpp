// The memory that copies, memsets and kernels read and write.
#pragma once

#include <string>
#include <vector>

#include "runtime/order/graph_shape.hpp"
#include "runtime/process.hpp"
#include "runtime/runtime.hpp"

namespace cuscope::order {

struct CopyWork {
    std::string what;
    std::vector<Access> accesses;
    bool host_waits = false;  // it writes pageable memory: the call returns when the copy has ended
};

// `runtime` is asked about addresses.
CopyWork copy_work(Runtime& runtime, const PitchedPointer& destination, const PitchedPointer& source,
                   const Extent& extent, MemcpyKind kind);
CopyWork copy_work(Runtime& runtime, const Memcpy3DParameters& copy);
inline CopyWork copy_work(Runtime& runtime, void* destination, const void* source, std::size_t bytes,
                          MemcpyKind kind) {
    return copy_work(runtime, {destination, bytes, bytes, 1}, {const_cast<void*>(source), bytes, bytes, 1},
                     {bytes, 1, 1}, kind);
}

// Rows of `width` bytes, `pitch` bytes apart.
void add_rows(std::vector<Access>& accesses, const void* pointer, std::size_t pitch, std::size_t width,
              std::size_t rows, Role role);

// The kernel that the core is about to launch.
std::vector<Access> kernel_accesses();
std::string kernel_name(Runtime& runtime, KernelHandle kernel);

// Questions of the check to the runtime: they take no simulated time and ask for no Ctrl-C.
class Quiet {
    NoWait no_wait_;
    NoWait::Again again_;
};

}  // namespace cuscope::order
