// The memory of a launch's arguments.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace cuscope::simt {

// Allocates memory for values of any type that a kernel has as a parameter: CUtensorMap has the strictest
// alignment of CUDA's types.
template <class T>
struct ArgumentAllocator {
    static constexpr std::align_val_t alignment{128};
    using value_type = T;

    ArgumentAllocator() = default;
    template <class Other>
    ArgumentAllocator(const ArgumentAllocator<Other>&) {}
    T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), alignment)); }
    void deallocate(T* memory, std::size_t) { ::operator delete(memory, alignment); }
    bool operator==(const ArgumentAllocator&) const { return true; }
};
using ArgumentBytes = std::vector<std::byte, ArgumentAllocator<std::byte>>;

}  // namespace cuscope::simt
