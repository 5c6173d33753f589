#include "ops/matmul.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

#include "cuda_kernels/matmul/plan.hpp"
#include "ops/launch.hpp"
#include "ops/native_matmul.hpp"

namespace cuscope::ops {
namespace {

constexpr const char* native = "native";
constexpr int most_matrices = 65535;  // of a launch: gridDim.z

// A B over matrices that all lie alike.
struct Batched {
    Problem problem;
    std::int64_t batch = 1;
};

// The batch dimensions, merged where one stride serves; those that are left over are walked one index after the other.
struct Dimensions {
    std::vector<std::int64_t> extent, a, b, c;
};

Dimensions batch_dimensions(const Array& a, const Array& b, const Array& c) {
    Dimensions merged;
    const std::size_t count = c.dimensions() - 2;
    for (std::size_t i = 0; i < count; ++i) {
        if (c.shape[i] == 1) continue;
        if (!merged.extent.empty() && merged.a.back() == a.strides[i] * c.shape[i] &&
            merged.b.back() == b.strides[i] * c.shape[i] && merged.c.back() == c.strides[i] * c.shape[i]) {
            merged.extent.back() *= c.shape[i];
            merged.a.back() = a.strides[i];
            merged.b.back() = b.strides[i];
            merged.c.back() = c.strides[i];
            continue;
        }
        merged.extent.push_back(c.shape[i]);
        merged.a.push_back(a.strides[i]);
        merged.b.push_back(b.strides[i]);
        merged.c.push_back(c.strides[i]);
    }
    return merged;
}


// The last two dimensions are rows that lie one after the other, as the kernels read them.
bool has_rows(const Array& array) {
    const auto size = static_cast<std::int64_t>(size_of(array.type));
    const std::int64_t rows = array.shape[array.dimensions() - 2], columns = array.shape.back();
    const std::int64_t row = array.strides[array.dimensions() - 2];
    return (columns == 1 || array.strides.back() == size) && (rows == 1 || (row >= columns * size && row % size == 0));
}

// As the kernels can read it, with the number of dimensions of the product; what is broadcast has a stride of 0.
Array operand(const Array& array, const Array& product, const core::StreamPtr& stream) {
    Array read = array;
    if (array.type != product.type || !has_rows(array)) read = packed(array, product.type, stream);
    const std::size_t missing = product.dimensions() - read.dimensions();
    read.shape.insert(read.shape.begin(), missing, 1);
    read.strides.insert(read.strides.begin(), missing, 0);
    for (std::size_t i = 0; i + 2 < product.dimensions(); ++i) {
        if (read.shape[i] != product.shape[i]) read.strides[i] = 0;
    }
    return read;
}

// Of a matrix with one row the distance means nothing, and may be anything.
std::int64_t row_distance(const Array& array) {
    const std::size_t rows = array.dimensions() - 2;
    if (array.shape[rows] == 1) return array.shape.back();
    return array.strides[rows] / static_cast<std::int64_t>(size_of(array.type));
}

// Calls `run` for each set of matrices that one launch can take.
template <class Run>
void for_each_batch(const Array& a, const Array& b, const Array& c, Run run) {
    const Dimensions batch = batch_dimensions(a, b, c);
    const auto size = static_cast<std::int64_t>(size_of(c.type));
    const std::size_t last = c.dimensions() - 1;
    Problem problem{static_cast<int>(c.shape[last - 1]), static_cast<int>(c.shape[last]), static_cast<int>(a.shape[last]),
                    row_distance(a), row_distance(b), c.shape[last], 0, 0, 0};
    // The innermost batch dimension is a launch's own; the others are walked.
    std::int64_t count = 1;
    std::size_t outer = batch.extent.size();
    if (outer > 0) {
        --outer;
        count = batch.extent[outer];
        problem.a_batch = batch.a[outer] / size;
        problem.b_batch = batch.b[outer] / size;
        problem.c_batch = batch.c[outer] / size;
    }
    std::vector<std::int64_t> index(outer, 0);
    for (;;) {
        std::int64_t of_a = 0, of_b = 0, of_c = 0;
        for (std::size_t i = 0; i < outer; ++i) {
            of_a += index[i] * batch.a[i];
            of_b += index[i] * batch.b[i];
            of_c += index[i] * batch.c[i];
        }
        for (std::int64_t first = 0; first < count; first += most_matrices) {
            Array left = a, right = b, product = c;
            left.pointer += of_a + first * problem.a_batch * size;
            right.pointer += of_b + first * problem.b_batch * size;
            product.pointer += of_c + first * problem.c_batch * size;
            run(left, right, product, problem, static_cast<int>(std::min<std::int64_t>(most_matrices, count - first)));
        }
        std::size_t i = outer;
        while (i > 0 && ++index[i - 1] == batch.extent[i - 1]) index[--i] = 0;
        if (i == 0) return;
    }
}

kernels::matmul::Choice choose(const core::Device&, Type, std::int64_t, std::int64_t, std::int64_t, std::int64_t) {
    return {"shared_tiles", "temporary"};
}

void run_rung(const std::string& name, const Array& a, const Array& b, const Array& c, const core::StreamPtr& stream) {
    for (const kernels::matmul::Rung& rung : kernels::matmul::rungs) {
        if (rung.name != name) continue;
        const auto kernel = KernelLibrary::of(stream->device()).kernel(rung.file, name + "<" + cuda_name(c.type) + ">");
        for_each_batch(a, b, c, [&](const Array& x, const Array& y, const Array& z, const Problem& p, int count) {
            const Launch launch{{static_cast<unsigned>((p.m+15)/16*((p.n+15)/16)), 1, static_cast<unsigned>(count)}, {16,16,1}};
            const std::array<core::Memory*, 3> memories{x.memory.get(), y.memory.get(), z.memory.get()};
            run(*kernel, launch, stream, memories, x.pointer, y.pointer, z.pointer, p);
        });
        return;
    }
    throw std::out_of_range("variant: there is no '" + name + "'");
}

}  // namespace

std::vector<Variant> matmul_variants(const core::Device& device) {
    std::vector<Variant> variants;
    for (const kernels::matmul::Rung& rung : kernels::matmul::rungs) variants.push_back({rung.name, rung.needs, rung.does});
    if (device.simulated()) {
        variants.push_back({native, "a simulated device",
                            "the processor's own way, by the BLAS that NumPy brings: what auto takes here"});
    }
    return variants;
}

Choice matmul(const Array& a, const Array& b, const Array& c, const std::string& variant,
              const core::StreamPtr& stream) {
    if (c.count() == 0) return {variant, "there is nothing to compute"};
    if (a.shape.back() == 0) {
        fill_with(c, 0, stream);
        return {variant, "sums of nothing are 0"};
    }
    for (const Array* array : {&a, &b, &c}) {
        for (const std::int64_t extent : {array->shape.back(), array->shape[array->dimensions() - 2]}) {
            if (extent > std::numeric_limits<int>::max())
                throw std::invalid_argument("matmul: an extent is " + std::to_string(extent) + "; allowed are " +
                                            std::to_string(std::numeric_limits<int>::max()) + " in the last two dimensions");
        }
    }
    const Array left = operand(a, c, stream), right = operand(b, c, stream);
    const core::Device& device = stream->device();
    const std::size_t last = c.dimensions() - 1;
    Choice choice{variant, "asked for"};
    if (variant == "auto") {
        std::int64_t batch = 1;
        for (std::size_t i = 0; i + 2 < c.dimensions(); ++i) batch *= c.shape[i];
        choice = explain_matmul(device, c.type, c.shape[last - 1], c.shape[last], a.shape.back(), batch);
    }
    if (choice.variant == native) {
        if (!device.simulated())
            throw std::out_of_range("variant: 'native' is there on simulated devices alone; see matmul.variants()");
        for_each_batch(left, right, c, [&](const Array& x, const Array& y, const Array& z, const Problem& problem, int count) {
            multiply_natively(x, y, z, problem, count, -1, stream);
        });
        return choice;
    }
    run_rung(choice.variant, left, right, c, stream);
    return choice;
}

Choice explain_matmul(const core::Device& device, Type type, std::int64_t m, std::int64_t n, std::int64_t k,
                      std::int64_t batch) {
    if (device.simulated()) return {native, "the device is simulated: the processor's own way is the fastest"};
    const kernels::matmul::Choice choice = choose(device, type, m, n, k, batch);
    return {choice.rung, choice.reason};
}

}  // namespace cuscope::ops
