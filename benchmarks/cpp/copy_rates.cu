// How fast the CUDA runtime copies between the host and the device, from C++: the peer of
// benchmarks/copies.py.
//
//   nvcc -O2 -std=c++17 -o copy_rates copy_rates.cu && ./copy_rates
//
// Prints one line of JSON, bytes a nanosecond: 256 MiB, the median of a few copies, of memory that was
// touched.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace {

constexpr std::size_t bytes = std::size_t{256} << 20;
constexpr int copies = 5;

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <class Copy>
double rate(Copy copy) {
    std::vector<double> samples;
    for (int i = 0; i <= copies; ++i) {
        check(cudaDeviceSynchronize());
        const auto begin = std::chrono::steady_clock::now();
        check(copy());
        check(cudaDeviceSynchronize());
        const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - begin;
        if (i > 0) samples.push_back(static_cast<double>(bytes) / elapsed.count());  // the first one warms up
    }
    std::nth_element(samples.begin(), samples.begin() + copies / 2, samples.end());
    return samples[copies / 2];
}

void run() {
    void *device, *pinned, *pageable = std::malloc(bytes);
    check(cudaMalloc(&device, bytes));
    check(cudaMallocHost(&pinned, bytes));
    if (pageable == nullptr) throw std::runtime_error("no memory");
    std::memset(pageable, 1, bytes);
    const auto to_device = [&](const void* host) {
        return rate([&] { return cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice); });
    };
    const auto to_host = [&](void* host) {
        return rate([&] { return cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost); });
    };
    std::printf(
        "{\"pageable_to_device\": %.3f, \"pageable_to_host\": %.3f, \"pinned_to_device\": %.3f, "
        "\"pinned_to_host\": %.3f}\n",
        to_device(pageable), to_host(pageable), to_device(pinned), to_host(pinned));
    std::free(pageable);
    check(cudaFreeHost(pinned));
    check(cudaFree(device));
}

}  // namespace

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "copy_rates: %s\n", error.what());
        return 1;
    }
    return 0;
}
