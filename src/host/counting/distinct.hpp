// A set of few numbers: the sectors or addresses of one request.
#pragma once

#include <array>
#include <cstdint>

namespace cuscope::simt {

class Distinct {
  public:
    // At most one number for each end of each lane's access.
    static constexpr unsigned most = 64;

    void clear() {
        ++round_;
        count_ = 0;
    }
    // Most numbers equal the one before, or come for the first time.
    void add(std::uintptr_t number) {
        if (count_ != 0 && number == numbers_[count_ - 1]) return;
        std::size_t at = (number * 0x9e3779b97f4a7c15u) >> 57;
        for (; rounds_[at] == round_; at = (at + 1) % slots)
            if (keys_[at] == number) return;
        rounds_[at] = round_;
        keys_[at] = number;
        numbers_[count_++] = number;
    }
    unsigned count() const { return count_; }
    // In the order in which they came.
    const std::uintptr_t* begin() const { return numbers_.data(); }
    const std::uintptr_t* end() const { return numbers_.data() + count_; }

  private:
    static constexpr std::size_t slots = 2 * most;
    std::array<std::uintptr_t, most> numbers_;
    std::array<std::uintptr_t, slots> keys_;
    std::array<std::uint64_t, slots> rounds_{};  // in which the key was added
    std::uint64_t round_ = 0;
    unsigned count_ = 0;
};

}  // namespace cuscope::simt
