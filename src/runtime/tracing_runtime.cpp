#include "runtime/tracing_runtime.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <string>
#include <utility>

#include "runtime/call_times.hpp"
#include "runtime/process.hpp"

namespace cuscope {
namespace {

// Calls that the package makes for its own sake beside nearly every call of a program. A trace would consist
// of them.
constexpr std::array<std::string_view, 14> bookkeeping = {
    "get_device",
    "set_device",
    "get_device_count",
    "get_last_error",
    "peek_at_last_error",
    "thread_exchange_stream_capture_mode",
    "stream_is_capturing",
    "stream_get_capture_info",
    "stream_get_id",
    "device_get_attribute",
    "get_device_properties",
    "pointer_get_attributes",
    "func_get_attributes",
    "device_get_default_mem_pool",
};

bool is_bookkeeping(std::string_view method) {
    return std::find(bookkeeping.begin(), bookkeeping.end(), method) != bookkeeping.end();
}

// Functions of the driver, which the runtime library does not have.
constexpr std::array<std::string_view, 5> of_driver = {
    "memset_d2d", "stream_write_value", "stream_wait_value", "stream_batch_mem_op", "tensor_map_encode"};
// Methods that CUDA does not have. Traces show them by their own names.
constexpr std::array<std::string_view, 5> own = {"compile", "launch_counted", "kernel_time_by_counts",
                                                 "kernel_time", "add_device"};

// cudaMemcpyAsync for memcpy_async, cuMemsetD2D32Async for memset_d2d32_async.
std::string name_in_cuda(std::string_view method) {
    if (std::find(own.begin(), own.end(), method) != own.end()) return std::string(method);
    const bool is_of_driver = std::any_of(of_driver.begin(), of_driver.end(),
                                          [=](std::string_view begin) { return method.starts_with(begin); });
    std::string name = is_of_driver ? "cu" : "cuda";
    bool first = true;
    for (const char c : method) {
        if (c == '_') {
            first = true;
            continue;
        }
        name += first ? static_cast<char>(std::toupper(c)) : c;
        first = std::isdigit(static_cast<unsigned char>(c)) != 0;
    }
    return name;
}

// The contract's names of methods are literals, so that their addresses identify them.
std::uint32_t index_of_method(std::string_view method) {
    struct Known {
        const char* method;
        std::uint32_t name;
    };
    static constinit thread_local std::array<Known, 64> cache{};
    Known& known = cache[reinterpret_cast<std::uintptr_t>(method.data()) / 8 % cache.size()];
    if (known.method != method.data())
        known = {method.data(), is_bookkeeping(method) ? 0 : index_of_name(name_in_cuda(method))};
    return known.name;
}

}  // namespace

WorkRecording TracingRuntime::start(std::shared_ptr<ActivityLog> log) {
    recorder_.start(std::move(log));
    return under().set_recorder(&recorder_);
}

bool TracingRuntime::stop(const std::shared_ptr<ActivityLog>& log, std::string* problem) {
    *problem = under().flush_records(recorder_.is_last(log));
    const bool last = recorder_.stop(log);
    if (last) under().set_recorder(nullptr);
    return last;
}

Status TracingRuntime::around(std::string_view method, const StreamHandle* stream, const Forward& forward) {
    const std::uint32_t name = index_of_method(method);
    if (name == 0 || Look::active()) return forward();
    CallContext& context = call_context();
    CallTimes& times = call_times();
    HostRecord record;
    record.number = next_activity_number();
    record.line = find_line_();
    record.range = context.range;
    record.name = name;
    record.thread = thread_number(context);
    const std::uint64_t outer = std::exchange(context.call, record.number);
    context.waited_for = 0;
    const bool told = under().call_begins(stream);
    record.start = under().trace_clock_ns();
    const std::int64_t outer_began = std::exchange(times.began, record.start);
    const Status status = forward();
    record.end = under().trace_clock_ns();
    if (told) under().call_ends();
    context.call = outer;
    times = {outer_began, record.number, record.end};
    record.waited_for = context.waited_for;
    recorder_.add(record);
    return status;
}

}  // namespace cuscope
