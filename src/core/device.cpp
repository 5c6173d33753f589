#include "core/device.hpp"

#include <algorithm>

#include "core/capture.hpp"
#include "core/host_task.hpp"
#include "core/mem_pool.hpp"
#include "core/staging.hpp"
#include "core/stream.hpp"
#include "runtime/process.hpp"

namespace cuscope::core {
namespace {

thread_local int host_function_depth = 0;

}  // namespace

HostFunctionScope::HostFunctionScope() { ++host_function_depth; }
HostFunctionScope::~HostFunctionScope() { --host_function_depth; }
bool in_host_function() noexcept { return host_function_depth > 0; }

void refuse_fork() {
    throw Error(Status::initialization_error, "fork",
                "this process is a fork of one that had already used a device");
}

void DeviceScope::enter(Device& device) {
    // Where even this is refused (a host function, a lost device) the call that follows says so itself.
    if (runtime_.get_device(&previous_) != Status::success) return;
    if (previous_ == device.ordinal()) return;
    device.check(runtime_.set_device(device.ordinal()), "cudaSetDevice");
    changed_ = true;
}

Device::Device(std::shared_ptr<Runtime> runtime, int ordinal, std::string name)
    : runtime_(std::move(runtime)), ordinal_(ordinal), name_(std::move(name)) {
    const Status status = runtime_->get_device_properties(&properties_, ordinal_);
    if (status != Status::success) {
        // Listing devices never fails: the one that does not answer says why when it is used.
        runtime_->get_last_error();
        properties_.name = std::string("unknown: ") + cuscope::name(status);
    }
    model_ = properties_.name;
    legacy_ = std::make_unique<Stream>(*this, stream_legacy);
    per_thread_ = std::make_unique<Stream>(*this, stream_per_thread);
    staging_ = std::make_unique<StagingRing>(*this);
}

Device::~Device() {
    if (!releasable(generation()) || in_host_function()) return;
    for (EventHandle event : events_) log_failure(runtime_->event_destroy(event), "cudaEventDestroy");
}

int Device::attribute(int number) {
    refuse_after_fork();
    int value = 0;
    const Status status =
        runtime_->device_get_attribute(&value, static_cast<DeviceAttribute>(number), ordinal_);
    if (status != Status::success) {
        fail(status, "cudaDeviceGetAttribute", "attribute " + std::to_string(number) + " of " + name_, {});
    }
    return value;
}

std::pair<std::size_t, std::size_t> Device::memory_info() {
    const DeviceScope scope(*this);
    std::size_t free = 0, total = 0;
    check(runtime_->mem_get_info(&free, &total), "cudaMemGetInfo");
    return {free, total};
}

PointerAttributes Device::pointer_attributes(const void* address) {
    const DeviceScope scope(*this);
    PointerAttributes attributes;
    check(runtime_->pointer_get_attributes(&attributes, address), "cudaPointerGetAttributes");
    return attributes;
}

std::size_t Device::limit(Limit limit) {
    const DeviceScope scope(*this);
    std::size_t value = 0;
    check(runtime_->device_get_limit(&value, limit), "cudaDeviceGetLimit");
    return value;
}

void Device::set_limit(Limit limit, std::size_t value) {
    const DeviceScope scope(*this);
    const RelaxedCapture relaxed(*this);
    check(runtime_->device_set_limit(limit, value), "cudaDeviceSetLimit");
}

void Device::reset_persisting_l2_cache() {
    const DeviceScope scope(*this);
    check(runtime_->ctx_reset_persisting_l2_cache(), "cudaCtxResetPersistingL2Cache");
}

std::pair<int, int> Device::stream_priority_range() {
    const DeviceScope scope(*this);
    int least = 0, greatest = 0;
    check(runtime_->device_get_stream_priority_range(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
    return {least, greatest};
}

bool Device::can_access_peer(const Device& peer) {
    if (peer.runtime_ != runtime_) return false;
    refuse_after_fork();
    int can = 0;
    check(runtime_->device_can_access_peer(&can, ordinal_, peer.ordinal_), "cudaDeviceCanAccessPeer");
    return can != 0;
}

void Device::enable_peer_access(Device& peer) {
    if (peer.runtime_ != runtime_) {
        throw std::invalid_argument(name_ + " and " + peer.name_ +
                                    " are not of one runtime: they cannot reach each other's memory");
    }
    const DeviceScope scope(*this);
    check(runtime_->device_enable_peer_access(peer.ordinal_, 0), "cudaDeviceEnablePeerAccess");
    try {
        MemPool::set_access(peer, ordinal_, MemAccess::read_write);
    } catch (...) {
        runtime_->device_disable_peer_access(peer.ordinal_);
        throw;
    }
    const std::lock_guard lock(peer.mutex_);
    peer.reached_by_.push_back(ordinal_);
}

void Device::disable_peer_access(Device& peer) {
    if (peer.runtime_ != runtime_) {
        throw std::invalid_argument(name_ + " and " + peer.name_ +
                                    " are not of one runtime: they cannot reach each other's memory");
    }
    const DeviceScope scope(*this);
    check(runtime_->device_disable_peer_access(peer.ordinal_), "cudaDeviceDisablePeerAccess");
    {
        const std::lock_guard lock(peer.mutex_);
        std::erase(peer.reached_by_, ordinal_);
    }
    MemPool::set_access(peer, ordinal_, MemAccess::none);
}

bool Device::reaches(const Device& peer) const {
    if (peer.runtime_ != runtime_) return false;
    const std::vector<int> by = peer.reached_by();
    return std::find(by.begin(), by.end(), ordinal_) != by.end();
}

std::vector<int> Device::reached_by() const {
    const std::lock_guard lock(mutex_);
    return reached_by_;
}

void Device::synchronize() {
    refuse_while_captured(*this, "cudaDeviceSynchronize");
    const DeviceScope scope(*this);
    check_wait(runtime_->device_synchronize(), "cudaDeviceSynchronize");
    sweep();
    raise_failure();
}

void Device::reset() {
    refuse_while_captured(*this, "cudaDeviceReset");
    const DeviceScope scope(*this);
    const Status status = runtime_->device_reset();
    ++generation_;
    drop_host_tasks(this);
    std::vector<std::function<bool()>> retired;
    std::vector<std::function<void()>> deferred;
    std::deque<std::pair<unsigned long long, std::exception_ptr>> failures;
    std::shared_ptr<void> pool;
    {
        const std::lock_guard lock(mutex_);
        pool.swap(current_pool_);
        events_.clear();
        reached_by_.clear();
        retired.swap(retired_);
        deferred.swap(deferred_);
        failures.swap(failures_);
        has_work_ = has_failures_ = false;
    }
    // Of another generation now: these forget what they hold.
    for (const auto& attempt : retired) attempt();
    check(status, "cudaDeviceReset");
}

std::shared_ptr<Stream> Device::legacy_stream() { return {shared_from_this(), legacy_.get()}; }
std::shared_ptr<Stream> Device::per_thread_stream() { return {shared_from_this(), per_thread_.get()}; }

std::shared_ptr<void> Device::current_pool() {
    const std::lock_guard lock(mutex_);
    return current_pool_;
}

void Device::set_current_pool(std::shared_ptr<void> pool) {
    const std::lock_guard lock(mutex_);
    current_pool_.swap(pool);
}

void Device::check_wait(Status status, const char* call) {
    if (status == Status::not_ready) throw Interrupted();
    check(status, call);
}

void Device::fail(Status status, const std::string& call, std::string detail, std::string hint) {
    if (detail.empty()) {
        detail = runtime_->error_detail();
    } else if (const std::string more = runtime_->error_detail(); !more.empty()) {
        detail += " (" + more + ")";
    }
    Capture::note_failure(status, call, detail);
    if (!in_host_function()) runtime_->get_last_error();  // the exception carries it from here on
    if (is_sticky(status)) drop_host_tasks(this);         // none of them will run any more
    throw Error(status, call, std::move(detail), std::move(hint));
}

void Device::refuse_generation(const char* what) const {
    throw std::invalid_argument(std::string(what) + " was made before " + name_ +
                                " was reset, and went with it: make a new one");
}

bool Device::releasable(unsigned generation) const noexcept {
    return generation == this->generation() && !process_exiting() && !forked_after_use();
}

bool Device::must_defer() noexcept { return in_host_function() || captures_underway() > 0; }

void Device::defer(std::function<void()> release) noexcept {
    const std::lock_guard lock(mutex_);
    deferred_.push_back(std::move(release));
    has_work_ = true;
}

void Device::retire(std::function<bool()> attempt) noexcept {
    const std::lock_guard lock(mutex_);
    retired_.push_back(std::move(attempt));
    has_work_ = true;
}

std::size_t Device::retired() {
    const std::lock_guard lock(mutex_);
    return retired_.size() + deferred_.size();
}

void Device::sweep() {
    if (!has_work_.load(std::memory_order_relaxed) || must_defer()) return;
    std::vector<std::function<void()>> deferred;
    std::vector<std::function<bool()>> retired;
    {
        const std::lock_guard lock(mutex_);
        deferred.swap(deferred_);
        retired.swap(retired_);
        has_work_ = false;
    }
    for (const auto& release : deferred) release();
    std::erase_if(retired, [](const auto& attempt) { return attempt(); });
    if (retired.empty()) return;
    const std::lock_guard lock(mutex_);
    retired_.insert(retired_.begin(), std::make_move_iterator(retired.begin()),
                    std::make_move_iterator(retired.end()));
    has_work_ = true;
}

Status Device::take_event(EventHandle* event) {
    {
        const std::lock_guard lock(mutex_);
        if (!events_.empty()) {
            *event = events_.back();
            events_.pop_back();
            return Status::success;
        }
    }
    return runtime_->event_create_with_flags(event, flags::event_disable_timing);
}

void Device::give_event(EventHandle event, unsigned generation) noexcept {
    const std::lock_guard lock(mutex_);
    if (event != nullptr && generation == this->generation()) events_.push_back(event);
}

void Device::store_failure(unsigned long long stream, std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    failures_.emplace_back(stream, std::move(failure));
    has_failures_ = true;
}

void Device::raise_failure() {
    if (!has_failures_.load(std::memory_order_acquire)) return;
    std::exception_ptr failure;
    {
        const std::lock_guard lock(mutex_);
        if (failures_.empty()) return;
        failure = std::move(failures_.front().second);
        failures_.pop_front();
        has_failures_ = !failures_.empty();
    }
    std::rethrow_exception(std::move(failure));
}

void Device::raise_failure(unsigned long long stream) {
    if (!has_failures_.load(std::memory_order_acquire)) return;
    std::exception_ptr failure;
    {
        const std::lock_guard lock(mutex_);
        const auto found = std::find_if(failures_.begin(), failures_.end(),
                                        [&](const auto& entry) { return entry.first == stream; });
        if (found == failures_.end()) return;
        failure = std::move(found->second);
        failures_.erase(found);
        has_failures_ = !failures_.empty();
    }
    std::rethrow_exception(std::move(failure));
}

}  // namespace cuscope::core
