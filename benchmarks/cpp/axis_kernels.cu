// Measures the kernels that reduce a middle axis on random shapes with few rows or few columns: the times
// with which tests/operations/test_reduction_choice.py checks the choice in
// cuda_kernels/reduce_auto/plan.hpp.
//
//   nvcc -O3 -std=c++20 -arch=native -o axis_kernels axis_kernels.cu && ./axis_kernels [shapes] [seed]
//   [table]
//
// Each time is the median of five rounds of eight launches between two events (four of large arrays), in
// microseconds. As in calls from Python, a launch may begin before the one before it has ended. The launches
// of a round read different data, so arrays above an eighth of the L2 cache come from memory. Prints the rows
// of a table in tests/operations/reduction_times_h200.json: "kernels" (the kernels that may be chosen, by
// their plans), "columns" (all lanes and splits that a plan considers), "few columns" (`narrow` with other
// numbers of blocks), or "rows" (lanes and splits of the last axis).
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#define CUSCOPE_ONE_INSTANCE  // only the instances that this program launches
#include "../../cuda_kernels/reduce_auto/extremes.cu"
#include "../../cuda_kernels/reduce_auto/first_extremes.cu"
#include "../../cuda_kernels/reduce_auto/plan.hpp"
#include "../../cuda_kernels/reduce_auto/sum.cu"

namespace {

namespace plan = cuscope::reduce;
using plan::Operation;
using plan::Type;

constexpr std::size_t buffer_bytes = std::size_t{1} << 30, l2_bytes = std::size_t{256} << 20;
char *in = nullptr, *out = nullptr, *slots = nullptr;

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

// Random bits, of which no element of any type is infinite or NaN.
__global__ void fill(unsigned* words, std::size_t count) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count; i += step) {
        unsigned x = static_cast<unsigned>(i) * 2654435761u;
        x = (x ^ x >> 15) * 0x85ebca6bu;
        words[i] = (x ^ x >> 13) & 0x3fff3fff;
    }
}

template <class Launch>
double microseconds(std::size_t bytes, Launch launch) {
    constexpr int rounds = 5;
    const int launches = bytes > (std::size_t{1} << 30) ? 4 : 8;
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    std::vector<float> times;
    for (int round = 0; round <= rounds; ++round) {  // the first one is not counted
        check(cudaEventRecord(begin));
        for (int i = 0; i < launches; ++i) launch(i);
        check(cudaEventRecord(end));
        check(cudaEventSynchronize(end));
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, begin, end));
        if (round > 0) times.push_back(milliseconds / launches * 1000);
    }
    check(cudaEventDestroy(begin));
    check(cudaEventDestroy(end));
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

struct Shape {
    long long outer, length, inner;
};

// A random number. Numbers of each magnitude are equally likely.
double between(std::mt19937& random, double least, double most) {
    return least * std::pow(std::max(1.0, most / least), std::uniform_real_distribution<>(0, 1)(random));
}

// Of up to 256 MB, with 2 to 48 rows or with 2 to 99 columns. Extents of each magnitude are equally
// likely.
Shape random_shape(std::mt19937& random, int element_bytes) {
    const double elements = between(random, 1e6, 256e6) / element_bytes;
    constexpr double shortest = 1024;  // bytes of a slice, because shorter ones have a kernel of their own
    Shape shape{};
    if (random() % 2 == 0) {
        shape.length = static_cast<long long>(between(random, 2, 49));
        shape.inner = static_cast<long long>(between(
            random, std::max(16.0, shortest / static_cast<double>(shape.length * element_bytes)), 200000));
        if (random() % 2 == 0) shape.inner = (shape.inner + 15) / 16 * 16;  // whole strips
    } else {
        shape.inner = static_cast<long long>(between(random, 2, 100));
        shape.length = static_cast<long long>(between(
            random, std::max(16.0, shortest / static_cast<double>(shape.inner * element_bytes)), 20000));
    }
    while (static_cast<double>(shape.length * shape.inner * element_bytes) < shortest) ++shape.length;
    shape.outer =
        std::max(1ll, static_cast<long long>(elements / static_cast<double>(shape.length * shape.inner)));
    return shape;
}

// Of up to 400 MB, with rows of more than 256 bytes.
Shape random_rows(std::mt19937& random, int element_bytes) {
    const double elements = between(random, 2e5, 4e8) / element_bytes;
    Shape shape{};
    shape.inner = 1;
    shape.length = static_cast<long long>(between(random, 272.0 / element_bytes, elements / 2));
    shape.outer = std::max(1ll, static_cast<long long>(elements / static_cast<double>(shape.length)));
    return shape;
}

// The table of which a row is printed.
enum class Table { kernels, columns, few_columns, rows };

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), const plan::Launch& as, Arguments... arguments) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = as.grid;
    config.blockDim = as.block;
    config.attrs = &attribute;
    config.numAttrs = 1;
    check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...));
}

template <class P>
void measure(const char* operation_name, const char* type_name, Operation operation, Type type, Type output,
             int multiprocessors, Table table, std::mt19937& random, bool& first_row) {
    const int bytes = plan::bytes_of(type), value = plan::value_bytes(operation, type);
    const auto [outer, length, inner] =
        table == Table::rows ? random_rows(random, bytes) : random_shape(random, bytes);
    const double divisor = operation == Operation::mean ? static_cast<double>(length) : 1;
    const unsigned long long bits = plan::bits_of(operation, type);
    const int kind = plan::kind_of(operation, output);
    const std::size_t size = (static_cast<std::size_t>(outer * length * inner) * bytes + 255) / 256 * 256;
    const std::size_t copies = std::clamp<std::size_t>(l2_bytes / size + 1, 1, buffer_bytes / size);
    const char* separator = "";
    const auto report = [&](const std::string& name, double time) {
        std::printf("%s\"%s\": %.2f", separator, name.c_str(), time);
        separator = ", ";
    };
    const auto print = [&, o = outer, l = length, i = inner](const std::string& name, auto kernel,
                                                             const plan::Launch& as) {
        if (as.slot_bytes > plan::most_workspace) return;
        const double time = microseconds(size, [&](int call) {
            launch(kernel, as, in + call % copies * size, out, o, l, i, i, l * i, bits, kind, divisor,
                   as.lanes, as.splits, slots);
        });
        report(name, time);
    };
    const bool has_narrow = plan::narrow_lanes(inner, bytes, value) <= 256;
    if (table == Table::few_columns && !has_narrow) return;
    std::printf("%s  {\"operation\": \"%s\", \"dtype\": \"%s\", \"extents\": [%lld, %lld, %lld], \"%s\": {",
                std::exchange(first_row, false) ? "" : ",\n", operation_name, type_name, outer, length, inner,
                table == Table::kernels       ? "kernels"
                : table == Table::few_columns ? "splits"
                                              : "lanes_and_splits");
    if (table == Table::kernels) {
        print("columns", columns<P>, plan::plan_columns(outer, length, inner, bytes, value, multiprocessors));
        if (length <= 48) print("shallow", shallow<P>, plan::plan_shallow(outer, inner, bytes, value));
        if (has_narrow)
            print("narrow", narrow<P>,
                  plan::plan_narrow(outer, length, inner, bytes, value, multiprocessors));
    } else if (table == Table::columns) {
        plan::for_each_columns(outer, length, inner, bytes, value, multiprocessors,
                               [&](const plan::ColumnsLaunch& each) {
                                   print(std::to_string(each.lanes) + " " + std::to_string(each.splits),
                                         columns<P>, each.plan(value));
                               });
    } else if (table == Table::rows) {
        plan::Launch as = plan::plan_rows(outer, length, bytes, multiprocessors);
        const long long vectors = std::max(1ll, length * bytes / 16);
        const auto print_rows = [&, count = outer, l = length](int lanes, long long splits) {
            as.lanes = lanes;
            as.splits = static_cast<int>(splits);
            const long long rows_a_block = as.block / lanes;
            as.grid = static_cast<unsigned>((count + rows_a_block - 1) / rows_a_block * splits);
            const double time = microseconds(size, [&](int call) {
                launch(rows<P>, as, in + call % copies * size, out, count, l, l, bits, kind, divisor, lanes,
                       as.splits, slots);
            });
            report(std::to_string(lanes) + " " + std::to_string(splits), time);
        };
        for (int lanes = 1; lanes <= 256 && (lanes == 1 || lanes / 2 < vectors); lanes *= 2)
            if (vectors / lanes <= 320) print_rows(lanes, 1);  // few lanes of long rows take very long
        long long last = 1;
        for (const long long blocks : {1, 2, 3, 4, 5}) {
            const long long splits = std::min(multiprocessors * blocks / outer, std::max(1ll, vectors / 512));
            if (splits > last) print_rows(256, last = splits);
        }
    } else {
        plan::Launch as = plan::plan_narrow(outer, length, inner, bytes, value, multiprocessors);
        const long long strips = length * inner / plan::strip_columns(bytes, value);
        std::set<long long> counts{as.splits};
        for (const long long blocks : {1, 66, 132, 264, 396, 528, 792})
            counts.insert(std::clamp(blocks / outer, 1ll, std::max(1ll, strips / as.block)));
        for (const long long splits : counts) {
            as.splits = static_cast<int>(splits);
            as.grid = static_cast<unsigned>(outer * splits);
            as.slot_bytes = plan::slot_bytes(outer, splits, inner, static_cast<int>(as.block), value);
            print(std::to_string(splits), narrow<P>, as);
        }
    }
    std::printf("}}");
}

void measure_all(int shapes, unsigned seed, Table table) {
    int device = 0, multiprocessors = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    check(cudaMalloc(&in, buffer_bytes));
    check(cudaMalloc(&out, buffer_bytes));
    check(cudaMalloc(&slots, plan::most_workspace));
    check(cudaMemset(slots, 0, plan::most_workspace));
    fill<<<1024, 256>>>(reinterpret_cast<unsigned*>(in), buffer_bytes / 4);
    check(cudaDeviceSynchronize());
    std::mt19937 random(seed);
    bool first = true;
    std::printf("[\n");
    for (int i = 0; i < shapes; ++i) {
#define MEASURE(P, operation, type, output)                                                               \
    measure<P>(#operation, #type, Operation::operation, Type::type, Type::output, multiprocessors, table, \
               random, first)
        switch (i % 12) {
            case 0:
                MEASURE(SumOf<float>, sum, float32, float32);
                break;
            case 1:
                MEASURE(SumOf<float>, mean, float32, float32);
                break;
            case 2:
                MEASURE(SumOf<__half>, sum, float16, float16);
                break;
            case 3:
                MEASURE(SumOf<__half>, mean, float16, float16);
                break;
            case 4:
                MEASURE(SumOf<double>, sum, float64, float64);
                break;
            case 5:
                MEASURE(SumOf<signed char>, sum, int8, int64);
                break;
            case 6:
                MEASURE(SumOf<int>, sum, int32, int64);
                break;
            case 7:
                MEASURE(ExtremeOf<__half>, maximum, float16, float16);
                break;
            case 8:
                MEASURE(ExtremeOf<unsigned char>, maximum, uint8, uint8);
                break;
            case 9:
                MEASURE(FirstExtremeOf<float>, first_maximum, float32, int64);
                break;
            case 10:
                MEASURE(FirstExtremeOf<__half>, first_maximum, float16, int64);
                break;
            case 11:
                MEASURE(SumOf<Complex<float>>, sum, complex64, complex64);
                break;
        }
#undef MEASURE
    }
    std::printf("\n]\n");
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const std::string table = argc > 3 ? argv[3] : "kernels";
        measure_all(argc > 1 ? std::atoi(argv[1]) : 240, argc > 2 ? std::atoi(argv[2]) : 1,
                    table == "columns"       ? Table::columns
                    : table == "few columns" ? Table::few_columns
                    : table == "rows"        ? Table::rows
                                             : Table::kernels);
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "axis_kernels: %s\n", problem.what());
        return 1;
    }
    return 0;
}
