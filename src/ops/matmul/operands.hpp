// The operands of a product: how they lie in memory, and copies of operands that a kernel cannot read.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/array.hpp"

namespace cuscope::ops {

inline constexpr std::int64_t pack_bytes = 16;  // that a kernel reads at a time

// Are the last two dimensions contiguous rows, as the kernels read them?
bool has_rows(const Array& array);
// The same matrices with rows and columns exchanged.
Array transposed(Array array);
// The array itself if it has this type and contiguous rows, else a copy.
Array in_rows(const Array& array, Type type, const core::StreamPtr& stream);
// The array itself if it has this type, else a copy, with the order of its rows or columns in memory.
Array converted(const Array& array, Type type, const core::StreamPtr& stream);
// Broadcasts to the dimensions of the product. A repeated dimension gets a stride of 0.
Array broadcast(Array array, const Array& product);
// Are the distances between its elements multiples of an element's size?
bool in_elements(const Array& array);
// Can the kernels read it 16 bytes at a time, up to the end of the last row?
bool in_packs(const Array& array);
// Tensor maps have no negative distances between the matrices of a batch.
bool has_map(const Array& array);
// Is it stored transposed, so that a kernel with boxes can read it as it lies? Floats are divided into parts
// first, wherever they lie.
bool has_columns(const Array& array, Type type);
// Is it stored transposed, with columns that begin at any address, or that can be read 16 bytes at a time?
bool has_columns_anywhere(const Array& array, Type type);
bool has_columns_in_packs(const Array& array, Type type);
// Can the kernels for this type read it 16 bytes at a time: as it lies, or, if it is stored otherwise, as a
// kernel gets it?
bool will_be_in_packs(const Array& array, Type type);
// A copy with rows that can be read 16 bytes at a time.
Array to_packs(const Array& array, const core::StreamPtr& stream);

// An operand, and the copies of it that were made until a kernel can read it. A later call with an operand
// that lies in memory alike makes the same copies.
class Prepared {
  public:
    enum class Copy : std::uint8_t {
        converted,  // converted()
        rows,       // in_rows()
        all,        // packed()
        packs,      // to_packs()
        columns     // rows and columns exchanged in memory, and so in packs
    };
    struct Step {
        Copy copy;
        Type type;
    };
    using Steps = std::vector<Step>;

    Prepared(Array array, core::StreamPtr stream) : array_(std::move(array)), stream_(std::move(stream)) {}

    const Array& array() const { return array_; }
    const Steps& steps() const { return steps_; }
    void take(Copy copy, Type type);

  private:
    Array array_;
    core::StreamPtr stream_;
    Steps steps_;
};

// The copy that these steps make.
Array prepare(const Array& array, const Prepared::Steps& steps, const core::StreamPtr& stream);

// The row distance of a matrix with one row has no meaning, but kernels that read 16 bytes at a time need a
// multiple of 16 bytes.
std::int64_t row_distance(const Array& array);

}  // namespace cuscope::ops
