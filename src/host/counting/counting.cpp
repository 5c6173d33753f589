#include "host/counting/counting.hpp"

#include <algorithm>
#include <map>

namespace cuscope::simt {

void Counting::point(unsigned parameter, const void* address, const void* base, std::size_t bytes) {
    const auto begin = reinterpret_cast<std::uintptr_t>(base);
    pointers_.push_back({reinterpret_cast<std::uintptr_t>(address), begin, begin + bytes, parameter});
}

void Counting::allow(const void* base, std::size_t bytes) {
    const auto begin = reinterpret_cast<std::uintptr_t>(base);
    others_.push_back({begin, begin + bytes, {}});
}

void Counting::divide() {
    std::stable_sort(pointers_.begin(), pointers_.end(),
                     [](const Pointer& a, const Pointer& b) { return a.address < b.address; });
    const Pointer* last = nullptr;
    for (const Pointer& pointer : pointers_) {
        if (last != nullptr && last->address == pointer.address) {
            std::vector<unsigned>& parameters = ranges_.back().parameters;
            if (std::find(parameters.begin(), parameters.end(), pointer.parameter) == parameters.end())
                parameters.push_back(pointer.parameter);
            continue;
        }
        const bool first = last == nullptr || last->base != pointer.base;
        if (!first) ranges_.back().end = pointer.address;
        ranges_.push_back({first ? pointer.base : pointer.address, pointer.end, {pointer.parameter}});
        last = &pointer;
    }
    const std::size_t pointed = ranges_.size();
    for (CountedRange& other : others_) {
        const auto after = std::upper_bound(
            ranges_.begin(), ranges_.begin() + static_cast<std::ptrdiff_t>(pointed), other.begin,
            [](std::uintptr_t at, const CountedRange& range) { return at < range.begin; });
        const bool known = after != ranges_.begin() && other.begin < after[-1].end;
        if (!known) ranges_.push_back(std::move(other));
    }
    std::sort(ranges_.begin(), ranges_.end(),
              [](const CountedRange& a, const CountedRange& b) { return a.begin < b.begin; });
    sums_.ranges.resize(ranges_.size());
}

void Counting::add(const Sums& sums) {
    const std::scoped_lock lock(mutex_);
    sums_.global += sums.global;
    sums_.shared += sums.shared;
    sums_.thread_steps += sums.thread_steps;
    sums_.warp_steps += sums.warp_steps;
    for (std::size_t i = 0; i < sums.ranges.size(); ++i) sums_.ranges[i] += sums.ranges[i];
}

LaunchCounts Counting::counts() const {
    const std::scoped_lock lock(mutex_);
    LaunchCounts counts{sums_.global, sums_.shared, sums_.thread_steps, sums_.warp_steps, {}, nullptr};
    std::map<unsigned, GlobalCounts> arguments;
    for (std::size_t i = 0; i < ranges_.size(); ++i)
        for (const unsigned parameter : ranges_[i].parameters) arguments[parameter] += sums_.ranges[i];
    for (const auto& [parameter, its] : arguments) counts.arguments.push_back({parameter, its});
    return counts;
}

}  // namespace cuscope::simt
