#include "runtime/fault_runtime.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <unordered_map>

namespace cuscope {
namespace {

constexpr std::array method_names = {
#define CUSCOPE_METHOD(method, parameters, arguments) std::string_view(#method),
#include "runtime/runtime_methods.inc"
#undef CUSCOPE_METHOD
};

std::uint64_t next_id() {
    static std::atomic<std::uint64_t> id{0};
    return ++id;
}

}  // namespace

FaultRuntime::FaultRuntime(std::shared_ptr<Runtime> under)
    : ForwardingRuntime(std::move(under)), id_(next_id()) {}

bool FaultRuntime::is_method(std::string_view method) {
    return std::find(method_names.begin(), method_names.end(), method) != method_names.end();
}

bool FaultRuntime::fail(std::string_view method, std::uint64_t nth, Status status) {
    if (!is_method(method) || nth == 0) return false;
    const std::lock_guard lock(mutex_);
    Method& entry = methods_[std::string(method)];
    entry.faults[entry.calls + nth] = status;
    return true;
}

std::uint64_t FaultRuntime::calls(std::string_view method) const {
    const std::lock_guard lock(mutex_);
    const auto found = methods_.find(method);
    return found == methods_.end() ? 0 : found->second.calls;
}

void FaultRuntime::clear() {
    const std::lock_guard lock(mutex_);
    methods_.clear();
}

Status& FaultRuntime::injected() {
    static thread_local std::unordered_map<std::uint64_t, Status> by_runtime;
    return by_runtime[id_];
}

Status FaultRuntime::count(std::string_view method) {
    const std::lock_guard lock(mutex_);
    auto found = methods_.find(method);
    if (found == methods_.end()) found = methods_.emplace(method, Method{}).first;
    const auto fault = found->second.faults.find(++found->second.calls);
    if (fault == found->second.faults.end()) return Status::success;
    const Status status = fault->second;
    found->second.faults.erase(fault);
    return status;
}

Status FaultRuntime::around(std::string_view method, const StreamHandle*, const Forward& forward) {
    Status& last = injected();
    if (const Status fault = count(method); fault != Status::success) {
        if (fault != Status::not_ready) last = fault;  // CUDA never keeps not_ready as last error
        return fault;
    }
    const Status status = forward();
    if (method == "peek_at_last_error") return last != Status::success ? last : status;
    if (method == "get_last_error") {
        const Status answer = last != Status::success ? last : status;
        last = Status::success;
        return answer;
    }
    // The wrapped runtime has a later error of its own.
    if (status != Status::success && status != Status::not_ready) last = Status::success;
    return status;
}

std::string FaultRuntime::error_detail() {
    return injected() != Status::success ? "a fault that was asked for" : ForwardingRuntime::error_detail();
}

}  // namespace cuscope
