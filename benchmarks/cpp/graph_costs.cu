// What a chain of kernels takes as a graph and without one, from C++: the floor under the same from Python.
//
//   nvcc -O2 -std=c++17 -o graph_costs graph_costs.cu && ./graph_costs 1000
//
// Prints one line of JSON for a chain of so many kernels, microseconds, medians: the graph replayed until it
// is done, the kernels launched one by one until they are done, the launch of the graph alone, and its
// capture for each kernel. benchmarks/graphs.py runs it beside Python's.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "processor.hpp"

namespace {

constexpr int batches = 21;
constexpr int repeats = 4;

__global__ void four(const float*, const float*, float*, int) {}

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <class Call>
double microseconds(cudaStream_t stream, Call call) {
    wake_the_processor();
    std::vector<double> samples;
    for (int batch = 0; batch <= batches; ++batch) {
        check(cudaStreamSynchronize(stream));
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < repeats; ++i) call();
        const std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - begin;
        check(cudaGetLastError());
        if (batch > 0) samples.push_back(elapsed.count() / repeats);  // the first one warms up
    }
    std::nth_element(samples.begin(), samples.begin() + batches / 2, samples.end());
    return samples[batches / 2];
}

void run(int kernels) {
    cudaStream_t stream;
    float* data;
    check(cudaStreamCreate(&stream));
    check(cudaMalloc(&data, 256 * sizeof(float)));
    const auto chain = [&] {
        for (int i = 0; i < kernels; ++i) four<<<1, 32, 0, stream>>>(data, data, data, 256);
    };
    const auto capture = [&] {
        cudaGraph_t graph;
        check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        chain();
        check(cudaStreamEndCapture(stream, &graph));
        return graph;
    };
    cudaGraph_t graph = capture();
    cudaGraphExec_t exec;
    check(cudaGraphInstantiate(&exec, graph, 0));

    const double replay = microseconds(stream, [&] {
        check(cudaGraphLaunch(exec, stream));
        check(cudaStreamSynchronize(stream));
    });
    const double plain = microseconds(stream, [&] {
        chain();
        check(cudaStreamSynchronize(stream));
    });
    const double launch = microseconds(stream, [&] { check(cudaGraphLaunch(exec, stream)); });
    const double captured = microseconds(stream, [&] { check(cudaGraphDestroy(capture())); });
    std::printf("{\"replay\": %.4f, \"plain\": %.4f, \"launch\": %.4f, \"capture\": %.4f}\n", replay, plain,
                launch, captured / kernels);

    check(cudaGraphExecDestroy(exec));
    check(cudaGraphDestroy(graph));
    check(cudaFree(data));
    check(cudaStreamDestroy(stream));
}

}  // namespace

int main(int count, char** arguments) {
    try {
        const int kernels = count > 1 ? std::atoi(arguments[1]) : 1000;
        if (kernels < 1) throw std::runtime_error("takes a number of kernels, 1 or more");
        run(kernels);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "graph_costs: %s\n", error.what());
        return 1;
    }
    return 0;
}
