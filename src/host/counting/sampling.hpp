// A launch of which a few blocks run in the image that counts, and the others in the plain image. The
// profiles of these blocks stand for the whole grid.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "host/counting/block_profile.hpp"
#include "host/counting/counting.hpp"
#include "host/executor/image.hpp"

namespace cuscope::simt {

class Recorder;

class Sampling {
  public:
    // `counting` knows the ranges of memory.
    Sampling(std::shared_ptr<Image> image, const cuscope_simt::KernelEntry* kernel,
             std::shared_ptr<const Counting> counting, std::uint64_t blocks);
    // For a profile: takes `most` blocks, among them block 0, and records all of their events. `profiled`:
    // gets their counts; null: they are counted by the launch itself.
    Sampling(std::shared_ptr<Image> image, const cuscope_simt::KernelEntry* kernel,
             std::shared_ptr<const Counting> counting, std::uint64_t blocks, std::uint64_t most,
             std::shared_ptr<Counting> profiled);

    const Image& image() const { return *image_; }
    const cuscope_simt::KernelEntry& kernel() const { return *kernel_; }
    const Counting& counting() const { return *counting_; }
    std::uint64_t blocks() const { return blocks_; }

    // The first block of the grid is always taken. When it has ended, `choose` takes as many others as the
    // budget allows. Before that no other block is taken.
    bool takes(std::uint64_t index) const;
    void choose();
    bool chosen() const { return chosen_.load(std::memory_order_acquire); }
    // Events that are recorded of one block.
    std::uint64_t most_events() const { return most_events_; }

    void add(BlockProfile profile);
    void add(const Recorder& recorder);
    // Of a profile.
    std::uint64_t counted_blocks() const { return profiled_ ? taken_.size() : blocks_; }
    // In the order of the blocks. Only once the launch has ended.
    const std::vector<BlockProfile>& profiles();

  private:
    const std::shared_ptr<Image> image_;
    const cuscope_simt::KernelEntry* const kernel_;
    const std::shared_ptr<const Counting> counting_;
    const std::uint64_t blocks_;
    const std::shared_ptr<Counting> profiled_;
    std::uint64_t most_events_;
    std::vector<std::uint64_t> taken_;  // in order; not changed once chosen_ is set
    std::atomic<bool> chosen_{false};
    std::mutex mutex_;
    std::vector<BlockProfile> profiles_;
};

}  // namespace cuscope::simt
