// Keeps the plans of operations for later calls with the same shapes and types. A call adds the addresses.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/device/device.hpp"

namespace cuscope::ops {

// Everything that a plan depends on, as a row of numbers.
class PlanKey {
  public:
    void add(std::uint64_t word) {
        if (count_ < words_.size()) words_[count_] = word;
        ++count_;
        hash_ = (hash_ ^ word) * 0x9e3779b97f4a7c15u;
        hash_ ^= hash_ >> 29;
    }
    // Adds the number of words, too.
    void add(std::span<const std::int64_t> words) {
        add(words.size());
        for (const std::int64_t word : words) add(static_cast<std::uint64_t>(word));
    }
    // False: the arrays have so many axes that the key has no room for them.
    bool complete() const { return count_ <= words_.size(); }
    std::uint64_t hash() const { return hash_; }
    bool operator==(const PlanKey& other) const {
        return hash_ == other.hash_ && count_ == other.count_ &&
               std::equal(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(count_),
                          other.words_.begin());
    }

  private:
    std::uint64_t hash_ = 0;
    std::size_t count_ = 0;
    std::array<std::uint64_t, 32> words_;  // the first count_ are set
};

// The plans of one device. It keeps at most 512: a new plan takes the place of an old one.
template <class Plan>
class PlanCache {
  public:
    static PlanCache& of(core::Device& device) {
        // Devices and their caches are never destroyed.
        thread_local const core::Device* last = nullptr;
        thread_local PlanCache* cache = nullptr;
        if (last == &device) return *cache;
        static std::mutex mutex;
        static auto* const caches = new std::vector<std::unique_ptr<PlanCache>>;
        const std::lock_guard lock(mutex);
        auto found = std::find_if(caches->begin(), caches->end(),
                                  [&](const auto& one) { return &one->device_ == &device; });
        if (found == caches->end())
            found = caches->insert(caches->end(), std::unique_ptr<PlanCache>(new PlanCache(device)));
        last = &device;
        cache = found->get();
        return *cache;
    }

    // Null if there is none, or none since the last reset of the device.
    std::shared_ptr<const Plan> find(const PlanKey& key) {
        const unsigned generation = device_.generation();
        const std::lock_guard lock(mutex_);
        for (const std::shared_ptr<const Entry>& entry : row(key)) {
            if (entry && entry->key == key && entry->generation == generation) return {entry, &entry->plan};
        }
        return nullptr;
    }
    // `generation` is the device's from before the plan was made.
    std::shared_ptr<const Plan> add(const PlanKey& key, unsigned generation, Plan plan) {
        auto entry = std::make_shared<const Entry>(Entry{key, generation, std::move(plan)});
        std::shared_ptr<const Plan> made(entry, &entry->plan);
        if (!key.complete()) return made;
        std::shared_ptr<const Entry> old;  // dropped after the lock, because that may call the runtime
        const std::lock_guard lock(mutex_);
        Row& places = row(key);
        auto place = std::find_if(places.begin(), places.end(), [&](const auto& one) {
            return !one || one->key == key || one->generation != generation;
        });
        if (place == places.end())
            place = places.begin() + static_cast<std::ptrdiff_t>(next_++ % places.size());
        old = std::move(*place);
        *place = std::move(entry);
        return made;
    }

  private:
    struct Entry {
        PlanKey key;
        unsigned generation;
        Plan plan;
    };
    static constexpr std::size_t rows = 128, places_of_a_row = 4;
    using Row = std::array<std::shared_ptr<const Entry>, places_of_a_row>;

    explicit PlanCache(core::Device& device) : device_(device), table_(rows) {}
    Row& row(const PlanKey& key) { return table_[key.hash() % rows]; }

    core::Device& device_;
    std::mutex mutex_;  // guards the members below; no call of the runtime is made while it is held
    std::vector<Row> table_;
    std::size_t next_ = 0;  // the place of a full row that is taken next
};

}  // namespace cuscope::ops
