// What calls of the CUDA runtime cost on the host, from C++: the floor under the same calls from Python.
//
//   nvcc -O2 -std=c++17 -o call_costs call_costs.cu && ./call_costs
//
// Prints one line of JSON, microseconds a call: the median over batches that are short enough for the
// device's queue never to fill. benchmarks/calls.py and benchmarks/pieces.py run it beside Python's.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "processor.hpp"

namespace {

constexpr int batches = 200;
constexpr int calls = 256;

__global__ void four(const float*, const float*, float*, int) {}

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <class Call>
double microseconds(Call call) {
    wake_the_processor();
    std::vector<double> samples;
    for (int batch = 0; batch <= batches; ++batch) {
        check(cudaDeviceSynchronize());
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < calls; ++i) call();
        const std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - begin;
        check(cudaGetLastError());
        if (batch > 0) samples.push_back(elapsed.count() / calls);  // the first one warms up
    }
    std::nth_element(samples.begin(), samples.begin() + batches / 2, samples.end());
    return samples[batches / 2];
}

void run() {
    cudaStream_t stream;
    cudaEvent_t event;
    float* data;
    check(cudaStreamCreate(&stream));
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    check(cudaMalloc(&data, 256 * sizeof(float)));
    check(cudaEventRecord(event, stream));

    const double launch = microseconds([&] { four<<<1, 32, 0, stream>>>(data, data, data, 256); });
    const double record = microseconds([&] { cudaEventRecord(event, stream); });
    const double wait = microseconds([&] { cudaStreamWaitEvent(stream, event, 0); });
    const double query = microseconds([&] { cudaStreamQuery(stream); });
    const double allocate = microseconds([&] {
        void* memory = nullptr;
        cudaMallocAsync(&memory, 1024 * sizeof(float), nullptr);
        cudaFreeAsync(memory, nullptr);
    });
    const double new_event = microseconds([&] {
        cudaEvent_t made;
        cudaEventCreateWithFlags(&made, cudaEventDisableTiming);
        cudaEventDestroy(made);
    });
    const double new_stream = microseconds([&] {
        cudaStream_t made;
        cudaStreamCreate(&made);
        cudaStreamDestroy(made);
    });
    std::printf(
        "{\"launch\": %.4f, \"event_record\": %.4f, \"stream_wait\": %.4f, \"stream_query\": %.4f, "
        "\"record\": %.4f, \"allocate\": %.4f, \"new_event\": %.4f, \"new_stream\": %.4f}\n",
        launch, record, wait, query, record, allocate, new_event, new_stream);

    check(cudaFree(data));
    check(cudaEventDestroy(event));
    check(cudaStreamDestroy(stream));
}

}  // namespace

int main() {
    try {
        run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "call_costs: %s\n", error.what());
        return 1;
    }
    return 0;
}
