#include "ops/matmul/planes.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "ops/elements.hpp"
#include "ops/kernel_library.hpp"

namespace cuscope::ops {
namespace {

std::int64_t width_of(int columns) { return (static_cast<std::int64_t>(columns) + 15) / 16 * 16; }

}  // namespace

Planes Planes::of(core::Device& device, Type type) {
    // Unsigned integers use the kernel for signed ones.
    const std::string number = size_of(type) == 8 ? "long long" : "int";
    return {KernelLibrary::of(device).kernel("matmul/to_planes", "to_planes<" + number + ">"), type};
}

void Planes::divide(const core::StreamPtr& stream, core::Memory* memory, std::byte* matrix, int rows,
                    int columns, long long row, const Array& planes) const {
    constexpr unsigned threads = 256, most_blocks = 65535;
    const std::int64_t width = planes.shape.back();
    const auto across = static_cast<unsigned>((width / 4 + threads - 1) / threads);
    const Launch launch{.grid = {across, std::min(static_cast<unsigned>(rows), most_blocks), 1},
                        .block = {threads, 1, 1}};
    const std::array<core::Memory*, 2> memories{memory, planes.memory.get()};
    cuscope::ops::run(*to_planes, launch, stream, memories, matrix, planes.pointer, rows, columns, row,
                      static_cast<int>(width));
}

void Planes::run(const core::Kernel& kernel, const Launch& launch, const core::StreamPtr& stream,
                 std::span<core::Memory* const> memories, std::byte* left, std::byte* right,
                 std::byte* product, const Problem& p, int count) const {
    const auto size = static_cast<std::int64_t>(size_of(type));
    const Array a = allocate(stream, Type::uint8, {size, p.m, width_of(p.k)});
    const Array b = allocate(stream, Type::uint8, {size, p.k, width_of(p.n)});
    Problem of_planes = p;
    of_planes.a_row = a.shape.back(), of_planes.b_row = b.shape.back();
    of_planes.a_batch = of_planes.b_batch = of_planes.c_batch = 0;
    const std::array<core::Memory*, 3> with_planes{a.memory.get(), b.memory.get(), memories[2]};
    for (int i = 0; i < count; ++i) {
        // A factor that is the same for all matrices is divided once.
        if (i == 0 || p.a_batch != 0)
            divide(stream, memories[0], left + i * p.a_batch * size, p.m, p.k, p.a_row, a);
        if (i == 0 || p.b_batch != 0)
            divide(stream, memories[1], right + i * p.b_batch * size, p.k, p.n, p.b_row, b);
        cuscope::ops::run(kernel, launch, stream, with_planes, a.pointer, b.pointer,
                          product + i * p.c_batch * size, of_planes);
    }
}

}  // namespace cuscope::ops
