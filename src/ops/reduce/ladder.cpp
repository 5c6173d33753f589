// The variants in cuda_kernels/reduce_ladder/, as cs.reduce(variant=...) runs them. They are meant for
// reading and measuring, so each is launched as the comment at the top of its source describes. An array that
// a variant cannot read is converted first.
#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

#include "core/error.hpp"
#include "ops/launch.hpp"
#include "ops/prediction.hpp"
#include "ops/reduce/gpu.hpp"

namespace cuscope::ops {
namespace {

constexpr unsigned threads = 256;

enum class Kind {
    blocks,     // leaves a partial result for each block, and is launched again over the partial results
    one_value,  // all blocks add to one value, which was initialised before
    ticket,     // the last block combines the partial results of the others
};

struct Rung {
    const char* name;
    const char* file;
    Kind kind;
    std::int64_t elements;  // per block; 0: any number of blocks will do
    unsigned blocks;        // per multiprocessor, where any number will do
    const char *needs, *does;
};

constexpr const char* every_operation = "sum, prod, min, max, any or all of real numbers";

constexpr std::array rungs{
    Rung{"interleaved_modulo", "reduce_ladder/01_interleaved_modulo", Kind::blocks, 256, 0, every_operation,
         "a tree in shared memory; every (2 s)-th thread adds its neighbour at distance s"},
    Rung{"interleaved_strided", "reduce_ladder/02_interleaved_strided", Kind::blocks, 256, 0, every_operation,
         "the same tree by the first threads of the block: whole warps work or rest"},
    Rung{"sequential", "reduce_ladder/03_sequential", Kind::blocks, 256, 0, every_operation,
         "the second half is added to the first: no bank conflicts"},
    Rung{"first_add_during_load", "reduce_ladder/04_first_add_during_load", Kind::blocks, 512, 0,
         every_operation, "each thread loads two elements and adds them on the way"},
    Rung{"unrolled_last_warp", "reduce_ladder/05_unrolled_last_warp", Kind::blocks, 512, 0, every_operation,
         "the last warp goes on without barriers of the block"},
    Rung{"fully_unrolled", "reduce_ladder/06_fully_unrolled", Kind::blocks, 512, 0, every_operation,
         "the block's size is a constant: no loop is left"},
    Rung{"grid_stride", "reduce_ladder/07_grid_stride", Kind::blocks, 0, 8, every_operation,
         "as many blocks as fit walk over the whole array"},
    Rung{"warp_shuffle", "reduce_ladder/08_warp_shuffle", Kind::one_value, 0, 8,
         "sum of real numbers; the last bits of floats depend on the order of the blocks",
         "shuffles in a warp, one atomicAdd a block"},
    Rung{"reduce_sync", "reduce_ladder/09_reduce_sync", Kind::one_value, 0, 8,
         "compute capability 8.0; min, max, any, all of integers up to 32 bits, sum with a dtype of 32 bits "
         "or fewer",
         "one instruction reduces a warp of integers"},
    Rung{"two_kernels", "reduce_ladder/10_two_kernels", Kind::blocks, 0, 8, every_operation,
         "partial results in a fixed order: the same bits on every run"},
    Rung{"last_block", "reduce_ladder/11_last_block", Kind::ticket, 0, 8, every_operation,
         "the last block to end combines the partial results: one launch"},
    Rung{"vector_loads", "reduce_ladder/12_vector_loads", Kind::ticket, 0, 4,
         "sum of floats and of signed integers; prod of floats; min and max of floats and of integers up to "
         "32 bits; "
         "any, all",
         "eight loads of 16 bytes a thread are under way at once"},
};

const Rung& rung_named(const std::string& name) {
    for (const Rung& rung : rungs)
        if (rung.name == name) return rung;
    std::string message = "variant: there is no '" + name + "'; there are auto";
    for (const Rung& rung : rungs) message += std::string(", ") + rung.name;
    throw std::invalid_argument(message + " (see reduce.variants())");
}

// The type that is computed in. The variants support 32 and 64-bit integers, float and double.
Type computed_type(Operation operation, Type in, Type out) {
    const Type from = operation == Operation::sum || operation == Operation::prod ? out : in;
    if (size_of(from) >= 4) return from;
    if (from == Type::boolean || kind_of(from) == 'i') return Type::int32;
    return kind_of(from) == 'u' ? Type::uint32 : Type::float32;
}

const char* kernel_operation(Operation operation) {
    switch (operation) {
        case Operation::sum:
            return "Sum";
        case Operation::prod:
            return "Product";
        case Operation::min:
        case Operation::all:
            return "Minimum";
        default:
            return "Maximum";
    }
}

[[noreturn]] void refuse(const Rung& rung, Operation operation, Type type) {
    throw core::WrongKind(std::string("variant: ") + rung.name + " does not do " + name(operation) + " of " +
                          name(type) + "; it needs: " + rung.needs + ". Pass variant=\"auto\"");
}

bool takes(const Rung& rung, Operation operation, Type computed) {
    const std::string_view name = rung.name;
    if (name == "warp_shuffle") return operation == Operation::sum;
    const bool narrow = computed == Type::int32 || computed == Type::uint32;
    if (name == "reduce_sync") return narrow && operation != Operation::prod;
    if (name == "vector_loads") {
        if (computed == Type::float32 || computed == Type::float64) return true;
        if (computed == Type::int32) return operation != Operation::prod;
        return computed == Type::int64 && operation == Operation::sum;
    }
    return true;
}

// The neutral element of the operation, for variants that combine into one initialised value.
double identity(Operation operation, Type type) {
    if (operation == Operation::sum) return 0;
    const bool lowest = std::string_view(kernel_operation(operation)) == "Maximum";
    if (type == Type::uint32) return lowest ? 0 : std::numeric_limits<std::uint32_t>::max();
    return lowest ? std::numeric_limits<std::int32_t>::min() : std::numeric_limits<std::int32_t>::max();
}

// A row of contiguous elements.
class Row {
  public:
    Row(const Rung& rung, const Array& in, const Array& out, std::int64_t length, const core::Kernel& kernel,
        const core::StreamPtr& stream)
        : rung_(rung), in_(in), out_(out), length_(length), kernel_(kernel), stream_(stream) {
        const int multiprocessors = std::max(1, stream->device().properties().multiprocessor_count);
        most_blocks_ = std::min<std::int64_t>(std::int64_t{rung.blocks} * multiprocessors,
                                              (length + threads - 1) / threads);
        if (rung.kind == Kind::ticket) {
            partials_ = allocate(stream, in.type, {most_blocks_});
            ticket_ = allocate(stream, Type::uint32, {1});
            fill_with(ticket_, 0, stream);
        } else if (rung.kind == Kind::blocks) {
            partials_ = allocate(stream, in.type, {2, blocks_for(length)});
        }
    }

    void reduce(std::int64_t row) const {
        const auto size = static_cast<std::int64_t>(size_of(in_.type));
        const std::byte* const in = in_.pointer + row * length_ * size;
        std::byte* const out = out_.pointer + row * size;
        switch (rung_.kind) {
            case Kind::one_value:
                return launch(most_blocks_, in, out, length_);
            case Kind::ticket: {
                const std::array<core::Memory*, 4> memories{in_.memory.get(), out_.memory.get(),
                                                            partials_.memory.get(), ticket_.memory.get()};
                return run(kernel_, grid(most_blocks_, length_), stream_, memories, in, out,
                           static_cast<long long>(length_), partials_.pointer, ticket_.pointer);
            }
            case Kind::blocks:
                break;
        }
        const std::byte* from = in;
        std::int64_t left = length_;
        for (int turn = 0;; turn = 1 - turn) {
            const std::int64_t blocks = blocks_for(left);
            std::byte* const to = blocks == 1 ? out : partials_.pointer + turn * partials_.shape[1] * size;
            launch(blocks, from, to, left);
            if (blocks == 1) return;
            from = to;
            left = blocks;
        }
    }

  private:
    std::int64_t blocks_for(std::int64_t left) const {
        if (rung_.elements > 0) return (left + rung_.elements - 1) / rung_.elements;
        // The second launch has one block.
        return left == length_ ? most_blocks_ : 1;
    }
    Launch grid(std::int64_t blocks, std::int64_t count) const {
        return {{static_cast<unsigned>(blocks), 1, 1},
                {threads, 1, 1},
                0,
                predict_reduction(stream_->device(), rung_.name, count, size_of(in_.type))};
    }
    void launch(std::int64_t blocks, const std::byte* in, std::byte* out, std::int64_t count) const {
        std::vector<core::Memory*> memories{in_.memory.get(), out_.memory.get()};
        if (partials_.memory) memories.push_back(partials_.memory.get());
        run(kernel_, grid(blocks, count), stream_, memories, in, out, static_cast<long long>(count));
    }

    const Rung& rung_;
    const Array &in_, &out_;
    std::int64_t length_, most_blocks_ = 1;
    const core::Kernel& kernel_;
    const core::StreamPtr& stream_;
    Array partials_, ticket_;
};

}  // namespace

std::vector<Variant> ladder_variants() {
    std::vector<Variant> variants;
    for (const Rung& rung : rungs) variants.push_back({rung.name, rung.needs, rung.does});
    return variants;
}

void run_ladder(const std::string& name, Operation operation, const Array& in, const Array& out,
                const Extents& extents, const core::StreamPtr& stream) {
    const Rung& rung = rung_named(name);
    const bool logical = operation == Operation::any || operation == Operation::all;
    const bool arithmetic = operation == Operation::sum || operation == Operation::prod ||
                            operation == Operation::min || operation == Operation::max;
    const bool complex = in.type == Type::complex64 || in.type == Type::complex128;
    if ((!arithmetic && !logical) || (complex && !logical)) refuse(rung, operation, in.type);
    const Type computed = logical ? Type::int32 : computed_type(operation, in.type, out.type);
    if (!takes(rung, operation, computed)) refuse(rung, operation, logical ? in.type : computed);

    // As rows of contiguous elements of the type that is computed in.
    Array rows = in;
    rows.shape = {extents.outer, extents.length, extents.inner};
    const auto size = static_cast<std::int64_t>(size_of(in.type));
    rows.strides = {extents.length * extents.inner * size, extents.inner * size, size};
    std::swap(rows.shape[1], rows.shape[2]);
    std::swap(rows.strides[1], rows.strides[2]);
    if (logical) rows = packed(rows, Type::boolean, stream);
    rows = packed(rows, computed, stream);
    const std::int64_t count = extents.outer * extents.inner;
    Array results = out;
    if (out.type != computed) results = allocate(stream, computed, {count});
    results.shape = {count};
    results.strides = {static_cast<std::int64_t>(size_of(computed))};
    if (rung.kind == Kind::one_value) fill_with(results, identity(operation, computed), stream);

    const std::string instance =
        std::string(rung.name) + "<" + cuda_name(computed) + ", " + kernel_operation(operation) + ">";
    const auto kernel = KernelLibrary::of(stream->device()).kernel(rung.file, instance);
    const Row row(rung, rows, results, extents.length, *kernel, stream);
    for (std::int64_t i = 0; i < count; ++i) row.reduce(i);
    if (out.type != computed) copy_into(out, results, stream);
}

}  // namespace cuscope::ops
