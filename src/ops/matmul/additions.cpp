#include "ops/matmul/additions.hpp"

#include <array>
#include <string>

#include "ops/kernel_library.hpp"

namespace cuscope::ops {

Additions Additions::of(core::Device& device, const matmul::Choice& choice, Type c, std::int64_t m,
                        std::int64_t n, std::int64_t c_row) {
    Additions made;
    made.type_ = type_named(choice.instance->out);
    made.parts_ = choice.split.parts();
    made.m_ = m, made.n_ = n, made.c_row_ = c_row;
    const bool bytes = size_of(c) == 1;
    made.kernel_ = KernelLibrary::of(device).kernel("matmul/add_parts",
                                                    std::string("add_parts<") + cuda_name(made.type_) + ", " +
                                                        (bytes ? "signed char" : cuda_name(c)) + ">");
    constexpr unsigned threads = 256;
    while (made.groups_ < 8 && made.groups_ * 8 < made.parts_) made.groups_ *= 2;
    // A thread of add_parts adds so many neighbours.
    const auto pack = static_cast<std::int64_t>(16 / size_of(made.type_)), width = n % pack == 0 ? pack : 1;
    const std::int64_t lanes = threads / made.groups_ * width, blocks = (m * n + lanes - 1) / lanes;
    made.launch_ = {
        .grid = {static_cast<unsigned>(blocks), 1, 1}, .block = {threads, 1, 1}, .overlapping = true};
    return made;
}

void Additions::run(const Place& from, const Place& c, const core::StreamPtr& stream) const {
    const std::array<core::Memory*, 2> memories{from.memory, c.memory};
    cuscope::ops::run(*kernel_, launch_, stream, memories, from.pointer, c.pointer, static_cast<int>(m_),
                      static_cast<int>(n_), static_cast<long long>(c_row_), parts_, groups_);
}

}  // namespace cuscope::ops
