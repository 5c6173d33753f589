// Counts what the threads of one block at a time do. Lanes of a warp run one after the other, so what they do
// together is put together afterwards: the n-th execution of an instruction by each of them, counted from
// where the warp was last together, is one request.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "cuscope_simt/abi.h"
#include "host/counting/counting.hpp"
#include "host/executor/image.hpp"

namespace cuscope::simt {

// Addresses from `begin` to before `end`.
struct Stretch {
    std::uintptr_t begin = 0, end = 0;
    Stretch() = default;
    Stretch(const void* start, std::size_t bytes)
        : begin(reinterpret_cast<std::uintptr_t>(start)), end(begin + bytes) {}
    bool holds(std::uintptr_t address) const { return address >= begin && address < end; }
};

class Recorder {
  public:
    // What a launch needs; valid while it lasts.
    struct Setting {
        const Counting* counting = nullptr;
        const Image* image_object = nullptr;
        Stretch code, image;  // the image's instructions, and all of it
        Stretch static_shared, dynamic_shared;
        unsigned threads = 0;
    };

    void begin(Setting setting);

    void access(unsigned thread, const char* instruction, std::uintptr_t address, unsigned bytes,
                cuscope_simt::Access access);
    void step(unsigned thread, const char* instruction);

    // All of a warp, or of the block, has come to one place.
    void meet(unsigned warp);
    void meet_all();

    // A thread that is far ahead lets the others of its block catch up, so that what has been recorded can be
    // put together and forgotten.
    bool far_ahead(unsigned thread) const { return warps_[thread / 32].pending[thread % 32] >= most_pending; }
    void caught_up(unsigned thread) { warps_[thread / 32].pending[thread % 32] = 0; }
    bool crowded(unsigned warp) const { return warps_[warp].open >= most_pending; }
    // What all of these lanes have left behind.
    void settle_common(unsigned warp, unsigned lanes);

    // What the block's threads did is not counted: they were abandoned.
    void forget();
    const Sums& sums() const { return sums_; }

  private:
    static constexpr unsigned banks = 32;
    static constexpr unsigned most_pending = 2048;
    static constexpr std::uint64_t most_open = 64 * most_pending;

    enum class Kind : unsigned char { load, store, atomic, step };
    struct Request {
        unsigned mask = 0, bytes = 0;
        std::array<std::uintptr_t, 32> address;
        Request() {}  // addresses are written before they are read
    };
    // One instruction in one warp: how often each lane has executed it, and the requests from the `first`.
    struct Sequence {
        std::array<std::uint32_t, 32> executed{};
        std::uint32_t first = 0;
        bool touched = false;
        std::vector<Request> requests;
    };
    struct Warp {
        std::vector<Sequence> sequences;  // by site
        std::vector<std::uint32_t> touched;
        std::array<std::uint32_t, 32> pending{};
        std::uint64_t open = 0;  // requests
    };
    struct Place {
        enum class Kind { range, variable, shared, uncounted };
        Kind kind = Kind::uncounted;
        Stretch stretch;
        std::size_t range = 0;
    };

    Sequence& sequence(Warp& warp, const char* instruction, Kind kind);
    void settle(Warp& warp, Sequence& sequence, Kind kind, std::size_t count);
    void settle(const Request& request, Kind kind);
    void finish(Warp& warp, std::uint32_t site);
    Place find(std::uintptr_t address) const;
    void count_shared(const Request& request, unsigned lanes, Kind kind);

    Setting setting_;
    std::vector<std::uint32_t> sites_;  // by offset in the code, from 1 on; 0: not seen yet
    std::vector<Kind> kinds_;           // by site
    std::vector<Stretch> variables_;
    std::vector<Warp> warps_;
    Place last_;
    // The words that one phase of a request wants of each bank: too much for a fiber's stack.
    std::array<std::array<std::uintptr_t, 64>, banks> in_bank_;
    Sums sums_;
};

}  // namespace cuscope::simt
