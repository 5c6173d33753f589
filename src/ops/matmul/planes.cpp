#include "ops/matmul/planes.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "ops/elements.hpp"
#include "ops/kernel_library.hpp"
#include "ops/matmul/maps.hpp"

namespace cuscope::ops {
namespace {

constexpr unsigned threads = 256, most_blocks = 65535;

std::int64_t width_of(int columns) { return (static_cast<std::int64_t>(columns) + 15) / 16 * 16; }

unsigned blocks_for(std::int64_t count, std::int64_t each) {
    return static_cast<unsigned>((count + each - 1) / each);
}

}  // namespace

Planes Planes::of(core::Device& device, Type type, const matmul::Instance& instance) {
    // Unsigned integers use the kernel for signed ones.
    const std::string number = size_of(type) == 8 ? "<long long>" : "<int>";
    KernelLibrary& library = KernelLibrary::of(device);
    Planes made;
    made.type_ = type;
    made.to_planes_ = library.kernel("matmul/to_planes", "to_planes" + number);
    if (instance.boxes) {
        made.to_transposed_planes_ = library.kernel("matmul/to_planes", "to_transposed_planes" + number);
        made.a_ = matmul::box_of_a(false, 1);
        made.b_ = matmul::box_of_b(instance, true, 1);
        made.c_ = matmul::box_of_c(instance);
    }
    return made;
}

void Planes::divide(const core::StreamPtr& stream, core::Memory* memory, const Matrix& matrix,
                    const Array& planes) const {
    const std::int64_t width = planes.shape.back();
    const Launch launch{.grid = {blocks_for(width / 4, threads),
                                 std::min(static_cast<unsigned>(matrix.rows), most_blocks), 1},
                        .block = {threads, 1, 1}};
    const std::array<core::Memory*, 2> memories{memory, planes.memory.get()};
    cuscope::ops::run(*to_planes_, launch, stream, memories, matrix.first, planes.pointer, matrix.rows,
                      matrix.columns, matrix.row, static_cast<int>(width));
}

void Planes::divide_transposed(const core::StreamPtr& stream, core::Memory* memory, const Matrix& matrix,
                               const Array& planes) const {
    constexpr std::int64_t block_rows = 128, block_columns = 32;
    const std::int64_t width = planes.shape.back();
    const Launch launch{.grid = {blocks_for(matrix.columns, block_columns),
                                 std::min(blocks_for(width, block_rows), most_blocks), 1},
                        .block = {threads, 1, 1}};
    const std::array<core::Memory*, 2> memories{memory, planes.memory.get()};
    cuscope::ops::run(*to_transposed_planes_, launch, stream, memories, matrix.first, planes.pointer,
                      matrix.rows, matrix.columns, matrix.row, static_cast<int>(width));
}

void Planes::run(const core::Kernel& kernel, const Launch& launch, const core::StreamPtr& stream,
                 std::span<core::Memory* const> memories, std::byte* left, std::byte* right,
                 std::byte* product, const Problem& p, int count) const {
    const auto size = static_cast<std::int64_t>(size_of(type_));
    const bool boxes = to_transposed_planes_ != nullptr;
    const Array a = allocate(stream, Type::uint8, {size, p.m, width_of(p.k)});
    const Array b = boxes ? allocate(stream, Type::uint8, {size, p.n, width_of(p.k)})
                          : allocate(stream, Type::uint8, {size, p.k, width_of(p.n)});
    Problem of_planes = p;
    of_planes.a_row = a.shape.back(), of_planes.b_row = b.shape.back();
    of_planes.a_batch = of_planes.b_batch = of_planes.c_batch = 0;
    const std::array<core::Memory*, 3> with_planes{a.memory.get(), b.memory.get(), memories[2]};
    for (int i = 0; i < count; ++i) {
        // A factor that is the same for all matrices is divided once.
        if (i == 0 || p.a_batch != 0)
            divide(stream, memories[0], {left + i * p.a_batch * size, p.m, p.k, p.a_row}, a);
        if (i == 0 || p.b_batch != 0) {
            const Matrix matrix{right + i * p.b_batch * size, p.k, p.n, p.b_row};
            if (boxes)
                divide_transposed(stream, memories[1], matrix, b);
            else
                divide(stream, memories[1], matrix, b);
        }
        std::byte* const to = product + i * p.c_batch * size;
        if (boxes)
            multiply_boxes(kernel, launch, stream, with_planes, {Stored::all_of(a), a_},
                           {Stored::all_of(b), b_}, {{type_, to, p.n, p.m, 1, p.c_row, 0}, c_}, of_planes, 1);
        else
            cuscope::ops::run(kernel, launch, stream, with_planes, a.pointer, b.pointer, to, of_planes);
    }
}

}  // namespace cuscope::ops
