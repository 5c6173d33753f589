// The kernel that multiplies, for the operands of a product as they lie in memory.
#pragma once

#include <string>
#include <vector>

#include "cuda_kernels/matmul/plan.hpp"
#include "ops/array.hpp"
#include "ops/matmul/operands.hpp"

namespace cuscope::ops {

// The element types of a product: the types that a kernel may take for both factors, the best one first, and
// the type of the result. Kernels take float8 as it is, or as float16, which holds every float8.
struct Types {
    std::vector<Type> factors;
    Type out;

    Types(Type a, Type b, Type out) : out(out) {
        if (is_float8(a) && a == b) factors.push_back(a);
        if (is_float8(a) && is_float8(b) && out == Type::float32) factors.push_back(Type::float16);
        factors.push_back(out);
    }
    bool are_alike() const { return factors.size() == 1; }
};

// A rung without its number: "coalesced".
std::string without_number(const std::string& rung);
// The product C, of which A has k columns.
matmul::Shape shape_of(const Array& c, std::int64_t k);
// The transposed product.
matmul::Shape turn(const matmul::Shape& shape);
// Which operands can a kernel read 16 bytes at a time? The kernels for float8 get copies of the others.
matmul::Packs packs_of(const Array& a, const Array& b, const Types& types);

// The type of the factors, and the kernel that multiplies them. If it is turned, the kernel multiplies B
// transposed by A transposed, which makes C transposed.
struct Way {
    Type factors{};
    matmul::Choice choice;
    bool turned = false;
};

// The best instance of a variant, preferably one that reads the operands without a copy. Throws
// std::invalid_argument for an unknown variant, core::WrongKind for one that does not support the types or
// the device.
Way way_of(const std::string& variant, const matmul::Shape& shape, const Types& types,
           const matmul::Packs& packs, const core::Device& device);
// The way that "auto" takes; without an instance if there is none.
Way choose(const core::Device& device, const Types& types, const matmul::Shape& shape,
           const matmul::Packs& packs = {});
// The same for these operands. If C has few columns, the transposed product may be faster: it has few rows.
Way choose_either(const core::Device& device, const Types& types, const matmul::Shape& shape, const Array& a,
                  const Array& b);
// The same for operands in rows that can be read 16 bytes at a time.
Way choose_in_rows(const core::Device& device, const Types& types, const matmul::Shape& shape);

// Which operands does the kernel read transposed, as they are stored?
struct InColumns {
    bool a, b;
};
// Makes the copies of operands that the kernel cannot read as they lie.
InColumns make_readable(const Way& way, const Types& types, Prepared* a, Prepared* b);

}  // namespace cuscope::ops
