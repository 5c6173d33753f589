#include "host/kernel_time/shapes.hpp"

#include <utility>

#include "host/kernel_time/model.hpp"

namespace cuscope::host {
namespace {

constexpr std::size_t most_shapes = 32;  // with the same geometry

}  // namespace

void KernelShape::learn(simt::Sampling& sampling) {
    const auto& profiles = sampling.profiles();
    if (profiles.empty()) return;
    const std::scoped_lock lock(mutex_);
    if (learned()) return;
    time_ = kernel_time(model_, sampling.blocks(), blocks_per_multiprocessor_, profiles);
    learned_.store(true, std::memory_order_release);
}

void KernelShape::offer_sampling(std::shared_ptr<simt::Sampling> sampling) {
    const std::scoped_lock lock(mutex_);
    sampling_ = std::move(sampling);
}

std::shared_ptr<simt::Sampling> KernelShape::take_sampling() {
    const std::scoped_lock lock(mutex_);
    return std::move(sampling_);
}

std::shared_ptr<KernelShape> KernelShapes::find(const std::string& geometry, const std::string& arguments,
                                                const DeviceModel& model, int blocks_per_multiprocessor) {
    auto& shapes = shapes_[geometry];
    if (const auto found = shapes.find(arguments); found != shapes.end()) return found->second;
    if (shapes.size() >= most_shapes) return first_[geometry];
    const auto made = std::make_shared<KernelShape>(model, blocks_per_multiprocessor);
    shapes.emplace(arguments, made);
    first_.try_emplace(geometry, made);
    return made;
}

}  // namespace cuscope::host
