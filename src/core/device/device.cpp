#include "core/device/device.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <thread>

#include "core/graph/capture.hpp"
#include "core/memory/mem_pool.hpp"
#include "core/memory/memory.hpp"
#include "core/memory/small_blocks.hpp"
#include "core/memory/staging.hpp"
#include "core/stream/host_task.hpp"
#include "core/stream/stream.hpp"
#include "core/trace/recording.hpp"
#include "runtime/process.hpp"

namespace cuscope::core {
namespace {

thread_local int host_function_depth = 0;
constexpr std::size_t all = std::numeric_limits<std::size_t>::max();

struct SweepEnd {
    explicit SweepEnd(std::atomic<int>& count) : sweeping(count) {}
    SweepEnd(const SweepEnd&) = delete;
    SweepEnd& operator=(const SweepEnd&) = delete;
    ~SweepEnd() { --sweeping; }
    std::atomic<int>& sweeping;
};

}  // namespace

HostFunctionScope::HostFunctionScope() { ++host_function_depth; }
HostFunctionScope::~HostFunctionScope() { --host_function_depth; }
bool in_host_function() noexcept { return host_function_depth > 0; }

void refuse_fork() {
    throw Error(Status::initialization_error, "fork",
                "this process is a fork of one that had already used a device");
}

void DeviceScope::enter(Device& device) {
    // If even this is refused (in a host function, on a lost device), the call that follows reports the
    // error.
    if (runtime_.get_device(&previous_) != Status::success) return;
    if (previous_ == device.ordinal()) return;
    device.check(runtime_.set_device(device.ordinal()), "cudaSetDevice");
    changed_ = true;
}

// If the mode cannot be exchanged (on a lost device), the call that follows reports the error.
ReleaseScope::ReleaseScope(Device& device)
    : device_(device),
      runtime_(device.runtime()),
      relaxed_(runtime_.thread_exchange_stream_capture_mode(&mode_) == Status::success) {}

ReleaseScope::~ReleaseScope() {
    if (!relaxed_ || runtime_.thread_exchange_stream_capture_mode(&mode_) == Status::success) return;
    // Try again: the thread must not stay in the relaxed mode, whatever the first failure was.
    runtime_.get_last_error();
    runtime_.thread_exchange_stream_capture_mode(&mode_);
}

bool is_put_off(Status status) noexcept {
    return status == Status::not_ready ||
           (status >= Status::stream_capture_unsupported && status <= Status::stream_capture_wrong_thread);
}

Device::Device(std::shared_ptr<Runtime> runtime, int ordinal, std::string name)
    : runtime_(std::move(runtime)),
      called_(runtime_.get()),
      released_(runtime_.get()),
      ordinal_(ordinal),
      name_(std::move(name)) {
    const Status status = runtime_->get_device_properties(&properties_, ordinal_);
    if (status != Status::success) {
        // Listing devices never fails: a device that does not answer reports the error when it is used.
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
    for (EventHandle event : events_) log_failure(runtime().event_destroy(event), "cudaEventDestroy");
}

int Device::attribute(int number) {
    refuse_after_fork();
    int value = 0;
    const Status status =
        runtime().device_get_attribute(&value, static_cast<DeviceAttribute>(number), ordinal_);
    if (status != Status::success) {
        fail(status, "cudaDeviceGetAttribute", "attribute " + std::to_string(number) + " of " + name_, {});
    }
    return value;
}

std::pair<std::size_t, std::size_t> Device::memory_info() {
    const DeviceScope scope(*this);
    std::size_t free = 0, total = 0;
    check(runtime().mem_get_info(&free, &total), "cudaMemGetInfo");
    return {free, total};
}

PointerAttributes Device::pointer_attributes(const void* address) {
    const DeviceScope scope(*this);
    PointerAttributes attributes;
    check(runtime().pointer_get_attributes(&attributes, address), "cudaPointerGetAttributes");
    return attributes;
}

std::size_t Device::limit(Limit limit) {
    const DeviceScope scope(*this);
    std::size_t value = 0;
    check(runtime().device_get_limit(&value, limit), "cudaDeviceGetLimit");
    return value;
}

void Device::set_limit(Limit limit, std::size_t value) {
    const DeviceScope scope(*this);
    const RelaxedCapture relaxed(*this);
    check(runtime().device_set_limit(limit, value), "cudaDeviceSetLimit");
}

void Device::reset_persisting_l2_cache() {
    const DeviceScope scope(*this);
    check(runtime().ctx_reset_persisting_l2_cache(), "cudaCtxResetPersistingL2Cache");
}

std::pair<int, int> Device::stream_priority_range() {
    const DeviceScope scope(*this);
    int least = 0, greatest = 0;
    check(runtime().device_get_stream_priority_range(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
    return {least, greatest};
}

bool Device::can_access_peer(const Device& peer) {
    if (peer.runtime_ != runtime_) return false;
    refuse_after_fork();
    int can = 0;
    check(runtime().device_can_access_peer(&can, ordinal_, peer.ordinal_), "cudaDeviceCanAccessPeer");
    return can != 0;
}

void Device::enable_peer_access(Device& peer) {
    if (peer.runtime_ != runtime_) {
        throw std::invalid_argument(name_ + " and " + peer.name_ +
                                    " are not of one runtime: they cannot reach each other's memory");
    }
    const DeviceScope scope(*this);
    const RelaxedCapture relaxed(*this);
    check(runtime().device_enable_peer_access(peer.ordinal_, 0), "cudaDeviceEnablePeerAccess");
    try {
        MemPool::set_access(peer, ordinal_, MemAccess::read_write);
    } catch (...) {
        runtime().device_disable_peer_access(peer.ordinal_);
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
    check(runtime().device_disable_peer_access(peer.ordinal_), "cudaDeviceDisablePeerAccess");
    {
        const std::lock_guard lock(peer.mutex_);
        std::erase(peer.reached_by_, ordinal_);
        std::erase(peer.copied_by_, ordinal_);
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

std::vector<int> Device::copied_by() const {
    const std::lock_guard lock(mutex_);
    return copied_by_;
}

void Device::note_copied_by(int other) {
    const std::lock_guard lock(mutex_);
    if (std::find(copied_by_.begin(), copied_by_.end(), other) == copied_by_.end())
        copied_by_.push_back(other);
}

void Device::synchronize() {
    refuse_while_captured(*this, "cudaDeviceSynchronize");
    const DeviceScope scope(*this);
    const RelaxedCapture relaxed(*this);  // captures on other devices, which the wait would invalidate
    release_unused_small_blocks(*this);
    check_wait(runtime().device_synchronize(), "cudaDeviceSynchronize");
    if (has_work_.load(std::memory_order_relaxed)) {
        sweep(all);
        // Another wait gives back the memory that the sweep freed in stream order.
        check_wait(runtime().device_synchronize(), "cudaDeviceSynchronize");
    }
    raise_failure();
}

void Device::reset() {
    refuse_while_captured(*this, "cudaDeviceReset");
    const DeviceScope scope(*this);
    const Status status = runtime().device_reset();
    if (status == Status::not_ready) throw Interrupted();  // the device is unchanged
    ++generation_;
    forget_traced_work(*this);
    keep_host_addresses(*this);
    drop_host_tasks(this);
    std::deque<Retired> retired;
    std::vector<PutOff> put_off;
    std::deque<std::pair<unsigned long long, std::exception_ptr>> failures;
    std::shared_ptr<void> pool, results;
    {
        const std::lock_guard lock(mutex_);
        pool.swap(current_pool_);
        results.swap(result_pool_);
        events_.clear();
        reached_by_.clear();
        copied_by_.clear();
        retired.swap(retired_);
        put_off.swap(put_off_);
        put_off_host_bytes_ = 0;
        failures.swap(failures_);
        has_work_ = has_failures_ = false;
    }
    // The generation has changed, so these only drop their state.
    for (const Retired& one : retired) one.attempt();
    check(status, "cudaDeviceReset");
}

void Device::first_used() {
    used_ = true;
    trace_device(*this);
}

std::shared_ptr<Stream> Device::legacy_stream() {
    note_used();
    return {shared_from_this(), legacy_.get()};
}

std::shared_ptr<Stream> Device::per_thread_stream() {
    note_used();
    return {shared_from_this(), per_thread_.get()};
}

std::shared_ptr<void> Device::current_pool() {
    const std::lock_guard lock(mutex_);
    return current_pool_;
}

void Device::set_current_pool(std::shared_ptr<void> pool) {
    const std::lock_guard lock(mutex_);
    current_pool_.swap(pool);
}

std::shared_ptr<void> Device::result_pool() {
    const std::lock_guard lock(mutex_);
    return result_pool_;
}

void Device::set_result_pool(std::shared_ptr<void> pool) {
    const std::lock_guard lock(mutex_);
    result_pool_.swap(pool);
}

void Device::check_wait(Status status, const char* call) {
    if (status == Status::not_ready) throw Interrupted();
    check(status, call);
}

void Device::fail(Status status, const std::string& call, std::string detail, std::string hint) {
    if (detail.empty()) {
        detail = runtime().error_detail();
    } else if (const std::string more = runtime().error_detail(); !more.empty()) {
        detail += " (" + more + ")";
    }
    Capture::note_failure(status, call, detail);
    if (!in_host_function()) runtime().get_last_error();  // from here on the exception carries the error
    if (is_sticky(status)) drop_host_tasks(this);         // none of them will run any more
    throw Error(status, call, std::move(detail), std::move(hint));
}

void Device::refuse_generation(const char* what) const {
    throw std::invalid_argument(std::string(what) + " was made before " + name_ +
                                " was reset, and the reset destroyed it: make a new one");
}

bool Device::releasable(unsigned generation) const noexcept {
    return generation == this->generation() && !process_exiting() && !forked_after_use();
}

void Device::put_off(PutOff release) noexcept {
    const std::lock_guard lock(mutex_);
    put_off_host_bytes_ += release.host_bytes;
    put_off_.push_back(std::move(release));
    has_work_ = true;
}

void Device::retire(std::function<bool()> attempt, std::function<void()> hurry) noexcept {
    const std::lock_guard lock(mutex_);
    retired_.push_back({std::move(attempt), std::move(hurry)});
    has_work_ = true;
}

std::size_t Device::retired() {
    const std::lock_guard lock(mutex_);
    return retired_.size() + put_off_.size();
}

void Device::sweep(std::size_t most_retired) {
    if (!has_work_.load(std::memory_order_relaxed)) return;
    Capture::end_left();
    const GivingBack now;
    if (!now) return;
    const NoWait::Again again;
    std::vector<PutOff> put_off;
    std::vector<Retired> retired;
    {
        const std::lock_guard lock(mutex_);
        const auto last =
            retired_.begin() + static_cast<std::ptrdiff_t>(std::min(most_retired, retired_.size()));
        retired.assign(std::make_move_iterator(retired_.begin()), std::make_move_iterator(last));
        retired_.erase(retired_.begin(), last);
        put_off.swap(put_off_);
        put_off_host_bytes_ = 0;
        has_work_ = !retired_.empty();
        ++sweeping_;
    }
    const SweepEnd end(sweeping_);
    // An attempt may end by putting a release off: the streams have finished their uses, but the device is
    // not idle.
    std::erase_if(retired, [](const Retired& one) { return one.attempt(); });
    std::vector<const char*> refused;  // calls that would wait, as one of their releases has shown
    std::erase_if(put_off, [&](const PutOff& one) {
        if (!releasable(one.generation)) return true;
        if (std::find(refused.begin(), refused.end(), one.call) != refused.end()) return false;
        if (release_now(one.call, one.destroy)) return true;
        refused.push_back(one.call);
        return false;
    });
    if (retired.empty() && put_off.empty()) return;
    const std::lock_guard lock(mutex_);
    for (const PutOff& one : put_off) put_off_host_bytes_ += one.host_bytes;
    put_off_.insert(put_off_.begin(), std::make_move_iterator(put_off.begin()),
                    std::make_move_iterator(put_off.end()));
    retired_.insert(retired_.end(), std::make_move_iterator(retired.begin()),
                    std::make_move_iterator(retired.end()));
    has_work_ = true;
}

// Releases that another thread is just completing are in no list. This waits for them without a lock, and
// only for a moment: completing a release may take the GIL, which this thread may hold.
void Device::let_others_sweep() const {
    constexpr int tries = 200;
    for (int i = 0; sweeping_ > 0 && i < tries; ++i)
        std::this_thread::sleep_for(std::chrono::microseconds(50));
}

bool Device::hurry() {
    const bool swept = sweeping_ > 0;
    if (swept) let_others_sweep();
    if (!has_work_.load(std::memory_order_relaxed)) return swept;
    const GivingBack now;
    if (!now) return swept;
    runtime().get_last_error();
    std::deque<Retired> retired;
    {
        const std::lock_guard lock(mutex_);
        retired.swap(retired_);
    }
    bool any = false;
    ++sweeping_;
    const SweepEnd end(sweeping_);
    for (const Retired& one : retired) {
        if (!one.hurry) continue;
        one.hurry();
        any = true;
    }
    {
        const std::lock_guard lock(mutex_);
        retired_.insert(retired_.begin(), std::make_move_iterator(retired.begin()),
                        std::make_move_iterator(retired.end()));
        has_work_ = true;
    }
    const std::size_t before = this->retired();
    sweep(all);
    return any || swept || this->retired() < before;
}

bool Device::reclaim() {
    const auto results = std::static_pointer_cast<MemPool>(result_pool());
    if ((!has_work_.load(std::memory_order_relaxed) && !results) || !GivingBack()) return false;
    runtime().get_last_error();
    release_small_blocks(*this);
    check_wait(runtime().device_synchronize(), "cudaDeviceSynchronize");
    sweep(all);
    if (results) results->trim(0);
    return true;
}

void Device::limit_put_off() {
    constexpr std::size_t most = std::size_t{1} << 30;
    {
        const std::lock_guard lock(mutex_);
        if (put_off_host_bytes_ <= most) return;
    }
    reclaim();
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
    return runtime().event_create_with_flags(event, flags::event_disable_timing);
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
