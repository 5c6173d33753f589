#include "ops/matmul/parts.hpp"

#include <algorithm>
#include <array>

#include "ops/kernel_library.hpp"
#include "ops/matmul/maps.hpp"

namespace cuscope::ops {
namespace {

constexpr std::int64_t copies = 4;  // three parts, and the first without infinity and NaN
constexpr std::int64_t step = 8;    // numbers in 16 bytes

}  // namespace

Parts Parts::of(core::Device& device, const matmul::Instance& instance, bool transposed_a,
                bool transposed_b) {
    Parts made;
    made.to_parts_ = KernelLibrary::of(device).kernel("matmul/to_parts", "to_parts");
    made.transposed_a_ = transposed_a;
    made.transposed_b_ = transposed_b;
    made.a_ = matmul::box_of_a(transposed_a);
    made.b_ = matmul::box_of_b(instance, transposed_b);
    made.c_ = matmul::box_of_c(instance);
    return made;
}

Array Parts::room_for(const core::StreamPtr& stream, int lines, int length) const {
    return allocate(stream, Type::bfloat16, {copies, lines, (length + step - 1) / step * step});
}

void Parts::divide(const core::StreamPtr& stream, core::Memory* memory, std::byte* first, int length,
                   long long line, const Array& parts) const {
    constexpr unsigned threads = 256, most_blocks = 65535;
    const auto lines = static_cast<int>(parts.shape[1]), width = static_cast<int>(parts.shape[2]);
    const auto across = static_cast<unsigned>((width / step + threads - 1) / threads);
    const Launch launch{.grid = {across, std::min(static_cast<unsigned>(lines), most_blocks), 1},
                        .block = {threads, 1, 1}};
    const std::array<core::Memory*, 2> memories{memory, parts.memory.get()};
    cuscope::ops::run(*to_parts_, launch, stream, memories, first, parts.pointer, lines, length, line, width);
}

void Parts::run(const core::Kernel& kernel, const Launch& launch, const core::StreamPtr& stream,
                std::span<core::Memory* const> memories, std::byte* left, std::byte* right,
                std::byte* product, const Problem& p, int count) const {
    constexpr std::int64_t size = 4;
    const int length_a = transposed_a_ ? p.m : p.k, lines_a = transposed_a_ ? p.k : p.m;
    const int length_b = transposed_b_ ? p.k : p.n, lines_b = transposed_b_ ? p.n : p.k;
    const Array a = room_for(stream, lines_a, length_a), b = room_for(stream, lines_b, length_b);
    const std::array<core::Memory*, 3> with_parts{a.memory.get(), b.memory.get(), memories[2]};
    Problem one = p;
    one.a_batch = one.b_batch = one.c_batch = 0;
    for (int i = 0; i < count; ++i) {
        // A factor that is the same for all matrices is divided once.
        if (i == 0 || p.a_batch != 0)
            divide(stream, memories[0], left + i * p.a_batch * size, length_a, p.a_row, a);
        if (i == 0 || p.b_batch != 0)
            divide(stream, memories[1], right + i * p.b_batch * size, length_b, p.b_row, b);
        const Stored c{Type::float32, product + i * p.c_batch * size, p.n, p.m, 1, p.c_row, 0};
        multiply_boxes(kernel, launch, stream, with_parts, {Stored::all_of(a), a_}, {Stored::all_of(b), b_},
                       {c, c_}, one, 1);
    }
}

}  // namespace cuscope::ops
