// How fast the reductions of cuda_kernels/ are, beside CUB's and beside a kernel that only reads.
//
//   nvcc -O3 -std=c++20 -arch=native -o reductions reductions.cu && ./reductions [--quick]
//
// First every result is checked against a sum in double on the host; then each comparison is measured in
// rounds, ours and the other in turn. A measurement is several calls on different parts of a large buffer,
// between two events of a stream that a kernel holds until all are enqueued, after the L2 cache was
// overwritten: so the data comes from memory, and the host's time does not count. Sums are measured a second
// time as a graph of these calls. Medians over the rounds, and the median of the rounds' ratios. Ends with 1
// if a check fails.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cub/device/device_reduce.cuh>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "../../cuda_kernels/reduce_auto/dot.cu"
#include "../../cuda_kernels/reduce_auto/first_extremes.cu"
#include "../../cuda_kernels/reduce_auto/plan.hpp"
#include "../../cuda_kernels/reduce_auto/sum.cu"

namespace ladder {
#include "../../cuda_kernels/reduce_ladder/01_interleaved_modulo.cu"
#include "../../cuda_kernels/reduce_ladder/02_interleaved_strided.cu"
#include "../../cuda_kernels/reduce_ladder/03_sequential.cu"
#include "../../cuda_kernels/reduce_ladder/04_first_add_during_load.cu"
#include "../../cuda_kernels/reduce_ladder/05_unrolled_last_warp.cu"
#include "../../cuda_kernels/reduce_ladder/06_fully_unrolled.cu"
#include "../../cuda_kernels/reduce_ladder/07_grid_stride.cu"
#include "../../cuda_kernels/reduce_ladder/08_warp_shuffle.cu"
#include "../../cuda_kernels/reduce_ladder/09_reduce_sync.cu"
#include "../../cuda_kernels/reduce_ladder/10_two_kernels.cu"
#include "../../cuda_kernels/reduce_ladder/11_last_block.cu"
#include "../../cuda_kernels/reduce_ladder/12_vector_loads.cu"
}  // namespace ladder

namespace {

namespace plan = cuscope::reduce;
using plan::Operation;
using plan::Type;

constexpr long long most = 1ll << 30;  // elements of the buffer
constexpr long long matrix_rows = 32768, matrix_columns = 8192;
constexpr std::size_t l2_bytes = std::size_t{256} << 20;  // more than any

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

// Numbers in [-1, 1) that follow from their index.
__global__ void fill(float* out, long long n) {
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
        unsigned long long x =
            static_cast<unsigned long long>(i) * 0x9e3779b97f4a7c15ull + 0x632be59bd9b4e019ull;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
        out[i] = static_cast<float>(static_cast<int>(x >> 40)) * 0x1p-23f - 1.0f;
    }
}

// Reads everything once, as `whole` does, and does as little as possible with it.
__global__ void __launch_bounds__(512, 2) read_only(const uint4* in, long long vectors, unsigned* out) {
    constexpr int loads = 8;
    const unsigned threads = gridDim.x * 512;
    unsigned seen = 0;
    fetch_ahead(in, vectors * 16, blockIdx.x, gridDim.x);
    follow();
    long long done = 0;
    for (; done + threads * loads <= vectors; done += threads * loads) {
        const uint4* first = in + done + blockIdx.x * (512 * loads) + threadIdx.x;
        uint4 bits[loads];
#pragma unroll
        for (int i = 0; i < loads; ++i) bits[i] = __ldcg(first + i * 512);
#pragma unroll
        for (int i = 0; i < loads; ++i) seen |= bits[i].x & bits[i].y & bits[i].z & bits[i].w;
    }
    for (long long i = done + blockIdx.x * 512 + threadIdx.x; i < vectors; i += threads) {
        const uint4 bits = __ldcg(in + i);
        seen |= bits.x & bits.y & bits.z & bits.w;
    }
    if (seen == 0xffffffffu) *out = seen;  // so that the loads are needed
}

// Keeps its stream busy for so long.
__global__ void hold(unsigned long long nanoseconds) {
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
    do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    while (now - start < nanoseconds);
}

// As the operations of the package launch them: each may overlap the end of the one before it.
template <class... Parameters, class... Arguments>
void launch(const plan::Launch& l, cudaStream_t stream, void (*kernel)(Parameters...),
            Arguments... arguments) {
    cudaLaunchAttribute overlapping;
    overlapping.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlapping.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = l.grid;
    config.blockDim = l.block;
    config.stream = stream;
    config.attrs = &overlapping;
    config.numAttrs = 1;
    check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...));
}

double median(std::vector<double> x) {
    std::nth_element(x.begin(), x.begin() + static_cast<long>(x.size() / 2), x.end());
    return x[x.size() / 2];
}

std::vector<double> ratios(const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> result;
    for (std::size_t i = 0; i < a.size(); ++i) result.push_back(a[i] / b[i]);
    return result;
}

// Enqueues the i-th of a graph's launches.
using Work = std::function<void(cudaStream_t, int)>;

class Benchmark {
  public:
    explicit Benchmark(bool quick) : rounds_(quick ? 5 : 15) {
        cudaDeviceProp properties;
        check(cudaGetDeviceProperties(&properties, 0));
        processors_ = properties.multiProcessorCount;
        std::printf("%s, %d multiprocessors, L2 %d MiB, %d rounds\n", properties.name, processors_,
                    properties.l2CacheSize >> 20, rounds_);
        check(cudaStreamCreate(&stream_));
        check(cudaEventCreate(&begin_));
        check(cudaEventCreate(&end_));
        check(cudaMalloc(&data_, most * sizeof(float)));
        check(cudaMalloc(&flush_, l2_bytes));
        check(cudaMalloc(&scratch_, scratch_bytes));
        check(cudaMalloc(&zeroed_, zeroed_bytes));
        check(cudaMalloc(&out_, out_bytes));
        check(cudaMemset(zeroed_, 0, zeroed_bytes));
        fill<<<8 * processors_, 256>>>(data_, most);
        check(cudaGetLastError());
        host_.resize(most);
        check(cudaMemcpy(host_.data(), data_, most * sizeof(float), cudaMemcpyDeviceToHost));
    }

    int run() {
        check_sums();
        check_others();
        std::printf(failures_ == 0 ? "\nall results are right\n" : "\n%d RESULTS ARE WRONG\n", failures_);
        measure_sums();
        measure_others();
        measure_ladder();
        return failures_ == 0 ? 0 : 1;
    }

  private:
    static constexpr std::size_t scratch_bytes = std::size_t{64} << 20, zeroed_bytes = 1 << 20;
    static constexpr std::size_t out_bytes = std::size_t{4} << 20;

    // What our operations are called with.
    template <class P>
    void whole_of(cudaStream_t stream, const void* in, long long n, Operation operation) {
        const plan::Launch l = plan::plan_whole(n, 4, processors_);
        launch(l, stream, plan::is_few(n, 4, processors_) ? few<P> : whole<P>, in, out_, n,
               plan::bits_of(operation, Type::float32), plan::kind_of(operation, Type::float32), 1.0,
               zeroed_);
    }
    void sum_of(cudaStream_t stream, const float* in, long long n) {
        whole_of<SumOf<float>>(stream, in, n, Operation::sum);
    }
    void argmax_of(cudaStream_t stream, const float* in, long long n) {
        whole_of<FirstExtremeOf<float>>(stream, in, n, Operation::first_maximum);
    }
    void dot_of(cudaStream_t stream, const float* a, const float* b, long long n) {
        const plan::Launch l = plan::plan_whole(n, 4, processors_);
        launch(l, stream, dot<DotOf<float>>, a, b, out_, n, 0ull, static_cast<int>(Type::float32), zeroed_);
    }
    void rows_of(cudaStream_t stream, const float* in) {
        const plan::Launch l = plan::plan_rows(matrix_rows, matrix_columns, 4, processors_);
        launch(l, stream, rows<SumOf<float>>, in, out_, matrix_rows, matrix_columns, matrix_columns, 0ull,
               static_cast<int>(Type::float32), 1.0, l.lanes, l.splits, zeroed_);
    }
    void columns_of(cudaStream_t stream, const float* in) {
        const plan::Launch l = plan::plan_columns(1, matrix_rows, matrix_columns, 4, 8, processors_);
        if (l.partial_bytes > scratch_bytes) throw std::runtime_error("the scratch memory is too small");
        launch(l, stream, columns<SumOf<float>>, in, out_, 1ll, matrix_rows, matrix_columns, matrix_columns,
               0ll, 0ull, static_cast<int>(Type::float32), 1.0, l.lanes, l.splits,
               static_cast<unsigned*>(zeroed_), scratch_);
    }
    void cub_sum_of(cudaStream_t stream, const float* in, long long n) {
        const int items = static_cast<int>(n);  // with 64 bits it would be slower
        std::size_t bytes = scratch_bytes;
        check(cub::DeviceReduce::Sum(scratch_, bytes, in, out_, items, stream));
    }
    void read(cudaStream_t stream, const float* in, long long n) {
        plan::Launch l;
        l.grid = 2u * static_cast<unsigned>(processors_);
        l.block = 512;
        launch(l, stream, read_only, reinterpret_cast<const uint4*>(in), n / 4,
               reinterpret_cast<unsigned*>(out_));
    }

    // Rungs 01 to 07 and 10: launch after launch until one value is left.
    template <class Kernel>
    void climb(cudaStream_t stream, Kernel kernel, int each, unsigned most_blocks, const float* in,
               long long n) {
        float* halves[2] = {static_cast<float*>(scratch_), static_cast<float*>(scratch_) + scratch_bytes / 8};
        for (int i = 0;; ++i) {
            const long long wanted = (n + each - 1) / each;
            const unsigned blocks = static_cast<unsigned>(std::min<long long>(wanted, most_blocks));
            float* out = blocks == 1 ? out_ : halves[i % 2];
            kernel<<<blocks, 256, 0, stream>>>(in, out, n);
            if (blocks == 1) return;
            in = out;
            n = blocks;
        }
    }
    void rung(cudaStream_t stream, int number, const float* in, long long n) {
        using ladder::Sum;
        constexpr unsigned any = 1u << 30;
        const unsigned full = 8u * static_cast<unsigned>(processors_);  // blocks of 256 threads that fit
        const unsigned some = static_cast<unsigned>(std::min<long long>((n + 255) / 256, full));
        const unsigned half = static_cast<unsigned>(std::min<long long>((n + 1023) / 1024, full / 2));
        auto* partials = static_cast<float*>(scratch_);
        auto* ticket = static_cast<unsigned*>(zeroed_);
        switch (number) {
            case 1:
                return climb(stream, ladder::interleaved_modulo<float, Sum>, 256, any, in, n);
            case 2:
                return climb(stream, ladder::interleaved_strided<float, Sum>, 256, any, in, n);
            case 3:
                return climb(stream, ladder::sequential<float, Sum>, 256, any, in, n);
            case 4:
                return climb(stream, ladder::first_add_during_load<float, Sum>, 512, any, in, n);
            case 5:
                return climb(stream, ladder::unrolled_last_warp<float, Sum>, 512, any, in, n);
            case 6:
                return climb(stream, ladder::fully_unrolled<float, Sum>, 512, any, in, n);
            case 7:
                return climb_twice(stream, ladder::grid_stride<float, Sum>, some, in, n);
            case 8:
                check(cudaMemsetAsync(out_, 0, sizeof(float), stream));
                ladder::warp_shuffle<float, Sum><<<some, 256, 0, stream>>>(in, out_, n);
                return;
            case 9:
                check(cudaMemsetAsync(out_, 0, sizeof(int), stream));
                ladder::reduce_sync<int, Sum><<<some, 256, 0, stream>>>(reinterpret_cast<const int*>(in),
                                                                        reinterpret_cast<int*>(out_), n);
                return;
            case 10:
                return climb_twice(stream, ladder::two_kernels<float, Sum>, some, in, n);
            case 11:
                ladder::last_block<float, Sum><<<some, 256, 0, stream>>>(in, out_, n, partials, ticket);
                return;
            default:
                ladder::vector_loads<float, Sum><<<half, 256, 0, stream>>>(in, out_, n, partials, ticket);
        }
    }
    template <class Kernel>
    void climb_twice(cudaStream_t stream, Kernel kernel, unsigned blocks, const float* in, long long n) {
        auto* partials = static_cast<float*>(scratch_);
        kernel<<<blocks, 256, 0, stream>>>(in, partials, n);
        kernel<<<1, 256, 0, stream>>>(partials, out_, blocks);
    }

    template <class T>
    T result(std::size_t i = 0) {
        check(cudaGetLastError());
        check(cudaStreamSynchronize(stream_));
        T value;
        check(cudaMemcpy(&value, reinterpret_cast<const T*>(out_) + i, sizeof value, cudaMemcpyDeviceToHost));
        return value;
    }

    void expect(const std::string& what, double value, double exact, double tolerance) {
        const double off = std::abs(value - exact);
        if (!(off <= tolerance)) {  // of NaN, too
            ++failures_;
            std::printf("WRONG: %s is %.9g, not %.9g (off by %.3g, allowed %.3g)\n", what.c_str(), value,
                        exact, off, tolerance);
        }
    }

    // Sums of the first 2^i elements, and of their absolute values; in one pass, in doubles.
    void check_sums() {
        std::printf("\n| n | exact | error of ours, ulp | error of CUB, ulp |\n|---|---|---|---|\n");
        double sums[8] = {}, sizes[8] = {};
        long long done = 0;
        for (int power = 10; power <= 30; ++power) {
            const long long n = 1ll << power;
            for (; done < n; done += 8)
                for (int j = 0; j < 8; ++j) {
                    sums[j] += host_[static_cast<std::size_t>(done + j)];
                    sizes[j] += std::abs(host_[static_cast<std::size_t>(done + j)]);
                }
            double exact = 0, size = 0;
            for (int j = 0; j < 8; ++j) exact += sums[j], size += sizes[j];
            const float nearest = static_cast<float>(exact);
            const double ulp = std::nextafter(std::abs(nearest), INFINITY) - std::abs(nearest);
            cudaMemsetAsync(out_, 0xff, 64, stream_);
            sum_of(stream_, data_, n);
            const double ours = result<float>();
            expect("sum of 2^" + std::to_string(power), ours, exact, 0.51 * ulp + 1e-13 * size);
            cub_sum_of(stream_, data_, n);
            const double cub = result<float>();
            std::printf("| 2^%d | %.9g | %.2f | %.2f |\n", power, exact, std::abs(ours - exact) / ulp,
                        std::abs(cub - exact) / ulp);
            exact_[power] = exact;
            size_[power] = size;
        }
    }

    void check_others() {
        read(stream_, data_, 1 << 20);  // loads it: a capture must not have to
        for (const int power : {10, 16, 20, 24}) {
            const long long n = 1ll << power;
            double exact = 0, size = 0;
            std::size_t largest = 0;
            for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
                const double product =
                    static_cast<double>(host_[i]) * host_[i + static_cast<std::size_t>(most / 2)];
                exact += product;
                size += std::abs(product);
                if (host_[i] > host_[largest]) largest = i;
            }
            dot_of(stream_, data_, data_ + most / 2, n);
            expect("dot of 2^" + std::to_string(power), result<float>(), exact,
                   6e-8 * std::abs(exact) + 1e-12 * size);
            argmax_of(stream_, data_, n);
            expect("argmax of 2^" + std::to_string(power), static_cast<double>(result<long long>()),
                   static_cast<double>(largest), 0);
        }
        // Every 977th row and all columns of the matrix.
        std::vector<double> of_columns(matrix_columns);
        rows_of(stream_, data_);
        for (std::size_t r = 0; r < matrix_rows; ++r) {
            double of_row = 0;
            for (std::size_t c = 0; c < matrix_columns; ++c) {
                const double x = host_[r * matrix_columns + c];
                of_row += x;
                of_columns[c] += x;
            }
            if (r % 977 == 0 || r + 1 == matrix_rows)
                expect("row " + std::to_string(r), result<float>(r), of_row, 6e-8 * std::abs(of_row) + 1e-9);
        }
        columns_of(stream_, data_);
        for (std::size_t c = 0; c < matrix_columns; c += c % 64 == 63 ? 193 : 1)
            expect("column " + std::to_string(c), result<float>(c), of_columns[c],
                   6e-8 * std::abs(of_columns[c]) + 1e-8);
        for (int number = 1; number <= 12; ++number)
            for (const int power : {10, 16, 20, 24, 28}) {
                const long long n = 1ll << power;
                rung(stream_, number, data_, n);
                const std::string what = "rung " + std::to_string(number) + " of 2^" + std::to_string(power);
                if (number != 9) {
                    expect(what, result<float>(), exact_[power], 1e-5 * size_[power]);
                    continue;
                }
                std::uint32_t exact = 0;
                for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
                    std::uint32_t bits;
                    std::memcpy(&bits, &host_[i], sizeof bits);
                    exact += bits;
                }
                expect(what, result<std::uint32_t>(), exact, 0);
            }
    }

    // Microseconds a call of each subject, in each round: in a stream, or as a graph.
    std::vector<std::vector<double>> measure(const std::vector<Work>& subjects, int launches) {
        std::vector<std::vector<double>> samples(subjects.size());
        for (int round = -1; round < rounds_; ++round)
            for (std::size_t s = 0; s < subjects.size(); ++s) {
                double us = -1;
                for (unsigned long long held = 1'000'000; us < 0; held *= 2) {
                    check(cudaMemsetAsync(flush_, round & 0xff, l2_bytes, stream_));
                    hold<<<1, 1, 0, stream_>>>(held);
                    check(cudaEventRecord(begin_, stream_));
                    for (int i = 0; i < launches; ++i) subjects[s](stream_, i);
                    const bool in_time = cudaEventQuery(begin_) == cudaErrorNotReady;
                    check(cudaEventRecord(end_, stream_));
                    check(cudaEventSynchronize(end_));
                    float ms = 0;
                    check(cudaEventElapsedTime(&ms, begin_, end_));
                    if (in_time) us = 1e3 * ms / launches;
                }
                if (round >= 0) samples[s].push_back(us);  // the one before warms up
            }
        return samples;
    }
    std::vector<std::vector<double>> measure_graphs(const std::vector<Work>& subjects, int launches) {
        std::vector<cudaGraphExec_t> graphs;
        for (const Work& work : subjects) {
            cudaGraph_t graph;
            cudaGraphExec_t executable;
            check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
            for (int i = 0; i < launches; ++i) work(stream_, i);
            check(cudaStreamEndCapture(stream_, &graph));
            check(cudaGraphInstantiate(&executable, graph, 0));
            check(cudaGraphDestroy(graph));
            graphs.push_back(executable);
        }
        std::vector<std::vector<double>> samples(subjects.size());
        for (int round = -1; round < rounds_; ++round)
            for (std::size_t s = 0; s < graphs.size(); ++s) {
                check(cudaMemsetAsync(flush_, round & 0xff, l2_bytes, stream_));
                check(cudaEventRecord(begin_, stream_));
                check(cudaGraphLaunch(graphs[s], stream_));
                check(cudaEventRecord(end_, stream_));
                check(cudaEventSynchronize(end_));
                float ms = 0;
                check(cudaEventElapsedTime(&ms, begin_, end_));
                if (round >= 0) samples[s].push_back(1e3 * ms / launches);  // the one before warms up
            }
        for (cudaGraphExec_t graph : graphs) check(cudaGraphExecDestroy(graph));
        return samples;
    }

    // Calls of a measurement: about 512 MiB of different data, but no more than 100 and no fewer than 4.
    static int launches_for(long long n) {
        return static_cast<int>(std::clamp<long long>((1ll << 27) / n, 4, 100));
    }
    // Where the i-th call reads.
    const float* part(int i, long long n) const { return data_ + i % (most / n) * n; }

    void measure_sums() {
        std::printf(
            "\nSum of float32\n\n| n | ours, us | CUB, us | ours, GB/s | CUB / ours | in a graph: ours, us | "
            "CUB, us | CUB / ours "
            "|\n|---|---|---|---|---|---|---|---|\n");
        for (int power = 10; power <= 30; ++power) {
            const long long n = 1ll << power;
            const std::vector<Work> both = {
                [=, this](cudaStream_t s, int i) { sum_of(s, part(i, n), n); },
                [=, this](cudaStream_t s, int i) { cub_sum_of(s, part(i, n), n); }};
            const auto samples = measure(both, launches_for(n));
            const auto in_graph = measure_graphs(both, launches_for(n));
            const double us = median(samples[0]);
            std::printf("| 2^%d | %.2f | %.2f | %.0f | %.3f | %.2f | %.2f | %.3f |\n", power, us,
                        median(samples[1]), 4e-3 * static_cast<double>(n) / us,
                        median(ratios(samples[1], samples[0])), median(in_graph[0]), median(in_graph[1]),
                        median(ratios(in_graph[1], in_graph[0])));
        }
    }

    // A row of a table: how long, how fast, and how fast compared with the other.
    void compare(const std::string& what, long long bytes, int launches, const Work& ours,
                 const Work& other) {
        const auto samples = measure({ours, other}, launches);
        const double us = median(samples[0]);
        std::printf("| %s | %.2f | %.0f | %.2f | %.3f |\n", what.c_str(), us,
                    1e-3 * static_cast<double>(bytes) / us, median(samples[1]),
                    median(ratios(samples[1], samples[0])));
    }

    void measure_others() {
        std::printf(
            "\nBeside a kernel that only reads as many bytes\n\n"
            "| | us | GB/s | reading, us | reading / ours |\n|---|---|---|---|---|\n");
        for (const int power : {20, 22, 24, 26, 28, 30}) {
            const long long n = 1ll << power;
            compare(
                "sum of 2^" + std::to_string(power), 4 * n, launches_for(n),
                [=, this](cudaStream_t s, int i) { sum_of(s, part(i, n), n); },
                [=, this](cudaStream_t s, int i) { read(s, part(i, n), n); });
        }
        for (const int power : {20, 24, 28, 29}) {
            const long long n = 1ll << power;
            compare(
                "dot of 2^" + std::to_string(power), 8 * n, launches_for(2 * n),
                [=, this](cudaStream_t s, int i) {
                    const float* a = part(i, 2 * n);
                    dot_of(s, a, a + n, n);
                },
                [=, this](cudaStream_t s, int i) { read(s, part(i, 2 * n), 2 * n); });
        }
        const long long n = matrix_rows * matrix_columns;
        compare(
            "sums of rows, 32768 x 8192", 4 * n, 4,
            [=, this](cudaStream_t s, int i) { rows_of(s, part(i, n)); },
            [=, this](cudaStream_t s, int i) { read(s, part(i, n), n); });
        compare(
            "sums of columns, 32768 x 8192", 4 * n, 4,
            [=, this](cudaStream_t s, int i) { columns_of(s, part(i, n)); },
            [=, this](cudaStream_t s, int i) { read(s, part(i, n), n); });
        std::printf("\n| | us | GB/s | sum, us | sum / argmax |\n|---|---|---|---|---|\n");
        for (const int power : {10, 16, 20, 24, 28, 30}) {
            const long long m = 1ll << power;
            compare(
                "argmax of 2^" + std::to_string(power), 4 * m, launches_for(m),
                [=, this](cudaStream_t s, int i) { argmax_of(s, part(i, m), m); },
                [=, this](cudaStream_t s, int i) { sum_of(s, part(i, m), m); });
        }
    }

    void measure_ladder() {
        static const char* const names[] = {
            "01_interleaved_modulo", "02_interleaved_strided", "03_sequential",  "04_first_add_during_load",
            "05_unrolled_last_warp", "06_fully_unrolled",      "07_grid_stride", "08_warp_shuffle",
            "09_reduce_sync (int)",  "10_two_kernels",         "11_last_block",  "12_vector_loads"};
        constexpr int powers[] = {16, 18, 20, 22, 24, 26, 28};
        std::printf(
            "\nThe ladder, float32 sums, us (GB/s)\n\n| rung | 2^16 | 2^18 | 2^20 | 2^22 | 2^24 | 2^26 | "
            "2^28 |\n"
            "|---|---|---|---|---|---|---|---|\n");
        std::vector<std::vector<double>> us(12);
        for (const int power : powers) {
            const long long n = 1ll << power;
            std::vector<Work> rungs;
            for (int number = 1; number <= 12; ++number)
                rungs.push_back([=, this](cudaStream_t s, int i) { rung(s, number, part(i, n), n); });
            const auto samples = measure(rungs, std::min(launches_for(n), 32));
            for (std::size_t i = 0; i < 12; ++i) us[i].push_back(median(samples[i]));
        }
        for (std::size_t i = 0; i < 12; ++i) {
            std::printf("| %s |", names[i]);
            for (std::size_t p = 0; p < us[i].size(); ++p)
                std::printf(" %.2f (%.0f) |", us[i][p],
                            4e-3 * static_cast<double>(1ll << powers[p]) / us[i][p]);
            std::printf("\n");
        }
    }

    int rounds_, processors_ = 0, failures_ = 0;
    cudaStream_t stream_ = nullptr;
    cudaEvent_t begin_ = nullptr, end_ = nullptr;
    float *data_ = nullptr, *out_ = nullptr;
    void *flush_ = nullptr, *scratch_ = nullptr, *zeroed_ = nullptr;
    std::vector<float> host_;
    double exact_[31] = {}, size_[31] = {};
};

}  // namespace

int main(int count, char** arguments) {
    try {
        return Benchmark(count > 1 && std::strcmp(arguments[1], "--quick") == 0).run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "reductions: %s\n", error.what());
        return 1;
    }
}
