// The times of a kernel's launches, by shape: grid, block, shared memory and the arguments that are no
// addresses. Private to src/host.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "host/counting/sampling.hpp"
#include "host/sim/device_model.hpp"
#include "runtime/kernel_time.hpp"

namespace cuscope::host {

// The time of launches of one shape. The first one whose blocks run is sampled.
class KernelShape {
  public:
    KernelShape(const DeviceModel& model, int blocks_per_multiprocessor)
        : model_(model), blocks_per_multiprocessor_(blocks_per_multiprocessor) {}

    // Known once the sampled launch has run. Nothing if it failed.
    bool learned() const { return learned_.load(std::memory_order_acquire); }
    // Call it only if learned() is true.
    const KernelTime& time() const { return time_; }
    void learn(simt::Sampling& sampling);

    // The first launch that runs takes the sampling; null for all others.
    void offer_sampling(std::shared_ptr<simt::Sampling> sampling);
    std::shared_ptr<simt::Sampling> take_sampling();

    // These are guarded by the runtime's lock. `published`: a launch has ended on the timeline, so the
    // durations of later launches are known when they are issued. learned() would depend on the speed of the
    // host's threads.
    bool offered = false, published = false;

  private:
    const DeviceModel& model_;
    const int blocks_per_multiprocessor_;
    std::atomic<bool> learned_{false};
    std::mutex mutex_;
    std::shared_ptr<simt::Sampling> sampling_;
    KernelTime time_;
};

// Guarded by the runtime's lock.
struct KernelShapes {
    // `geometry`: the parts of the shape besides the arguments. A kernel with very many different arguments
    // keeps the shape of its first launch with this geometry.
    std::shared_ptr<KernelShape> find(const std::string& geometry, const std::string& arguments,
                                      const DeviceModel& model, int blocks_per_multiprocessor);

    std::map<std::string, std::map<std::string, std::shared_ptr<KernelShape>>> shapes_;
    std::map<std::string, std::shared_ptr<KernelShape>> first_;
};

}  // namespace cuscope::host
