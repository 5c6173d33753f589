#include "host/counting/sampling.hpp"

#include <algorithm>
#include <utility>

#include "host/counting/recorder.hpp"

namespace cuscope::simt {
namespace {

// An event takes 10 to 40 ns, so all of them take about half a second.
constexpr std::uint64_t most_events_of_launch = 20'000'000;
constexpr std::uint64_t least_blocks = 5, most_blocks = 96;

}  // namespace

Sampling::Sampling(std::shared_ptr<Image> image, const cuscope_simt::KernelEntry* kernel,
                   std::shared_ptr<const Counting> counting, std::uint64_t blocks)
    : image_(std::move(image)),
      kernel_(kernel),
      counting_(std::move(counting)),
      blocks_(blocks),
      most_events_(most_events_of_launch / std::min(blocks, least_blocks)) {}

Sampling::Sampling(std::shared_ptr<Image> image, const cuscope_simt::KernelEntry* kernel,
                   std::shared_ptr<const Counting> counting, std::uint64_t blocks, std::uint64_t most,
                   std::shared_ptr<Counting> profiled)
    : image_(std::move(image)),
      kernel_(kernel),
      counting_(std::move(counting)),
      blocks_(blocks),
      profiled_(std::move(profiled)),
      most_events_(~std::uint64_t{0}),
      chosen_(true) {
    const std::uint64_t count = std::min(blocks, std::max<std::uint64_t>(1, most));
    // Pairs of neighbours show how much blocks share.
    std::vector<std::uint64_t> pairs;
    if (count >= 8 && count < blocks) pairs = {0, 1, blocks / 2, blocks / 2 + 1};
    const std::uint64_t others = count - pairs.size(), left = blocks - pairs.size();
    const double size = static_cast<double>(left) / static_cast<double>(others);
    double place = 0;
    for (std::uint64_t i = 0; i < others; ++i) {
        auto block = static_cast<std::uint64_t>((static_cast<double>(i) + place) * size);
        for (const std::uint64_t taken : pairs) block += block >= taken ? 1 : 0;
        taken_.push_back(block);
        // The golden ratio spreads the places evenly. Parts of one or two blocks have no place to choose.
        if (size < 3) continue;
        place += 0.6180339887498949;
        if (place >= 1) place -= 1;
    }
    taken_.insert(taken_.end(), pairs.begin(), pairs.end());
    std::sort(taken_.begin(), taken_.end());
}

bool Sampling::takes(std::uint64_t index) const {
    if (index == 0) return true;
    return chosen() && std::binary_search(taken_.begin(), taken_.end(), index);
}

// One block of each part of the grid, at a place within the part that differs from part to part, so that the
// samples do not all have the same column of a two-dimensional grid. Blocks 1 and N / 2 + 1 show how much
// neighbouring blocks share.
void Sampling::choose() {
    std::uint64_t events = 1;
    {
        const std::scoped_lock lock(mutex_);
        if (!profiles_.empty()) events = std::max<std::uint64_t>(1, profiles_.front().events);
    }
    const std::uint64_t count =
        std::min(blocks_, std::clamp(most_events_of_launch / events, least_blocks, most_blocks));
    most_events_ = most_events_of_launch / count;
    if (count == blocks_) {
        for (std::uint64_t i = 1; i < blocks_; ++i) taken_.push_back(i);
    } else {
        taken_ = {1, blocks_ / 2, blocks_ / 2 + 1, blocks_ - 1};
        const std::uint64_t parts = count - least_blocks;
        const double size =
            static_cast<double>(blocks_) / static_cast<double>(std::max<std::uint64_t>(1, parts));
        double place = 0;
        for (std::uint64_t i = 0; i < parts; ++i) {
            place += 0.6180339887498949;  // the golden ratio spreads the places evenly
            if (place >= 1) place -= 1;
            taken_.push_back(static_cast<std::uint64_t>((static_cast<double>(i) + place) * size));
        }
        std::sort(taken_.begin(), taken_.end());
        taken_.erase(std::unique(taken_.begin(), taken_.end()), taken_.end());
    }
    chosen_.store(true, std::memory_order_release);
}

void Sampling::add(BlockProfile profile) {
    // Only these blocks are compared with their neighbours.
    if (profile.index > 1 && profile.index != blocks_ / 2 && profile.index != blocks_ / 2 + 1)
        profile.units = {};
    const std::scoped_lock lock(mutex_);
    profiles_.push_back(std::move(profile));
}

void Sampling::add(const Recorder& recorder) {
    if (!profiled_) return;
    profiled_->add(recorder.sums());
    recorder.add_lines();
}

const std::vector<BlockProfile>& Sampling::profiles() {
    std::sort(profiles_.begin(), profiles_.end(),
              [](const BlockProfile& a, const BlockProfile& b) { return a.index < b.index; });
    return profiles_;
}

}  // namespace cuscope::simt
