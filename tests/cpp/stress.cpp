// Many host threads on the host runtime at once, through the contract alone: for the thread sanitizer. Prints
// the first wrong answer and returns 1; the sanitizer reports data races.
#include <atomic>
#include <barrier>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/registry.hpp"
#include "runtime/runtime.hpp"

namespace {

using namespace cuscope;

constexpr int threads = 8, rounds = 30, elements = 4096;

std::atomic<bool> failed{false};

void expect(Status status, const char* call, Status expected = Status::success) {
    if (status == expected || failed.exchange(true)) return;
    std::printf("%s: %s, expected %s\n", call, name(status), name(expected));
}
#define EXPECT(call) expect(runtime.call, #call)

void require(bool condition, const char* what) {
    if (!condition && !failed.exchange(true)) std::printf("wrong: %s\n", what);
}

struct Shared {
    std::shared_ptr<Runtime> owner = runtime("host");
    std::barrier<> meeting{threads};
    std::mutex mutex;
    EventHandle passed = nullptr;  // recorded by one thread, waited for by the others
    std::atomic<int> host_functions{0};
    std::string image;
    std::string kernel_name;
};

void count_host_function(void* data) { static_cast<Shared*>(data)->host_functions.fetch_add(1); }

// Copies in, adds in a kernel, copies out; checks every element.
void compute(Shared& shared, int thread) {
    Runtime& runtime = *shared.owner;
    LibraryHandle library = nullptr;
    KernelHandle kernel = nullptr;
    EXPECT(library_load_data(&library, shared.image.data(), shared.image.size()));
    EXPECT(library_get_kernel(&kernel, library, shared.kernel_name.c_str()));
    StreamHandle stream = nullptr;
    EXPECT(stream_create_with_priority(&stream, thread % 2 != 0 ? flags::stream_non_blocking : 0U,
                                       -(thread % 3)));
    EventHandle start = nullptr, stop = nullptr;
    EXPECT(event_create_with_flags(&start, flags::event_default));
    EXPECT(event_create_with_flags(&stop, flags::event_blocking_sync));
    void *host = nullptr, *device = nullptr;
    constexpr std::size_t bytes = elements * sizeof(int);
    EXPECT(host_alloc(&host, bytes, 0));
    int* const values = static_cast<int*>(host);
    for (int round = 0; round < rounds && !failed; ++round) {
        for (int i = 0; i < elements; ++i) values[i] = i + thread;
        EXPECT(malloc_async(&device, bytes, stream));
        EXPECT(event_record_with_flags(start, stream, 0));
        EXPECT(memcpy_async(device, host, bytes, MemcpyKind::host_to_device, stream));
        int add = round, count = elements;
        void* arguments[] = {&device, &add, &count};
        LaunchConfig config;
        config.grid = {elements / 128, 1, 1};
        config.block = {128, 1, 1};
        config.stream = stream;
        expect(runtime.launch_kernel(config, kernel, arguments), "launch_kernel");
        EXPECT(memcpy_async(host, device, bytes, MemcpyKind::device_to_host, stream));
        EXPECT(launch_host_func(stream, count_host_function, &shared));
        EXPECT(event_record_with_flags(stop, stream, 0));
        EXPECT(free_async(device, stream));
        if (round % 4 == thread % 4) {
            const std::lock_guard lock(shared.mutex);
            EXPECT(event_record_with_flags(shared.passed, stream, 0));
        } else {
            EXPECT(stream_wait_event(stream, shared.passed, 0));
        }
        if (round % 3 == 0) {
            EXPECT(event_synchronize(stop));
        } else {
            EXPECT(stream_synchronize(stream));
        }
        bool right = true;
        for (int i = 0; i < elements; ++i) right = right && values[i] == i + thread + round;
        require(right, "an element after the kernel");
        float milliseconds = -1;
        EXPECT(event_elapsed_time(&milliseconds, start, stop));
        require(milliseconds > 0, "an elapsed time");
        std::size_t free = 0, total = 0;
        EXPECT(mem_get_info(&free, &total));
        if (round % 10 == 9) EXPECT(memset(host, 0, bytes));
    }
    EXPECT(stream_synchronize(stream));
    EXPECT(event_destroy(start));
    EXPECT(event_destroy(stop));
    EXPECT(stream_destroy(stream));
    EXPECT(free_host(host));
    shared.meeting.arrive_and_wait();
    EXPECT(library_unload(library));
}

}  // namespace

int main() {
    Shared shared;
    if (!shared.owner) {
        std::puts("this build has no host runtime");
        return 1;
    }
    Runtime& runtime = *shared.owner;
    CompileRequest request;
    request.source =
        "__global__ void add(int* p, int value, int n) {\n"
        "    __shared__ int copy[128];\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (i < n) copy[threadIdx.x] = p[i] + value;\n"
        "    __syncthreads();\n"
        "    if (i < n) p[i] = copy[threadIdx.x];\n"
        "}\n";
    CompileResult compiled;
    const Status status = runtime.compile(request, &compiled);
    expect(status, "compile");
    if (failed) {
        std::puts(compiled.log.c_str());
        return 1;
    }
    shared.image = compiled.image;
    shared.kernel_name = compiled.kernels.at(0).lowered;
    EXPECT(event_create_with_flags(&shared.passed, flags::event_disable_timing));

    std::vector<std::thread> workers;
    for (int thread = 0; thread < threads; ++thread)
        workers.emplace_back([&, thread] { compute(shared, thread); });
    for (std::thread& worker : workers) worker.join();
    EXPECT(device_synchronize());
    EXPECT(event_destroy(shared.passed));
    require(shared.host_functions == threads * rounds, "the number of host functions that ran");
    runtime.shut_down();
    if (!failed) std::printf("%d threads, %d rounds each: all as expected\n", threads, rounds);
    return failed ? 1 : 0;
}
