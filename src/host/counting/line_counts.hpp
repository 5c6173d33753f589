// The counts of a profiled launch by instruction. A recorder has its own LineCounts, which it adds to the
// launch's LineProfile.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "host/counting/block_profile.hpp"
#include "host/counting/counting.hpp"
#include "host/counting/distinct.hpp"
#include "host/executor/image.hpp"
#include "runtime/launch_profile.hpp"

namespace cuscope::simt {

// The memory that an instruction accesses.
struct AccessedPlace {
    enum class Kind : int { range, module_variable, static_shared, dynamic_shared };
    Kind kind = Kind::range;
    std::size_t index = 0;     // of the range or the variable
    std::uintptr_t begin = 0;  // addresses are relative to it
    bool operator==(const AccessedPlace& other) const { return kind == other.kind && index == other.index; }
};

// How the lanes of a warp went on behind a basic block: for each of its executions since the warp last met,
// the site of the next basic block, and whether lanes went to different ones.
class Targets {
  public:
    void add(std::uint32_t execution, std::uint32_t site) {
        if (execution >= most_executions) return;
        if (execution >= sites_.size()) sites_.resize(execution + 1);
        std::uint32_t& its = sites_[execution];
        if (its == 0)
            its = site;
        else if ((its & ~differs) != site)
            its |= differs;
    }
    // The number of executions with different targets since the last call.
    std::uint64_t take() {
        std::uint64_t count = 0;
        for (const std::uint32_t its : sites_) count += its >> 31;
        sites_.clear();
        return count;
    }

  private:
    static constexpr std::uint32_t differs = 1u << 31;
    // Bounds the memory for a warp that runs a long loop. Later executions count as not divergent.
    static constexpr std::uint32_t most_executions = 1 << 22;
    std::vector<std::uint32_t> sites_;
};

class LineProfile;

class LineCounts {
  public:
    struct Step {
        std::uint64_t warps = 0, threads = 0, divergent = 0;
    };
    struct PlaceCounts {
        AccessedPlace place;
        ProfiledAccess counts;  // without the names
    };
    struct Site {
        Step step;
        std::vector<PlaceCounts> accesses;
    };

    explicit LineCounts(LineProfile& profile) : profile_(profile) {}

    void begin_block(std::uint64_t index) { block_ = index; }
    Step& step(std::uint32_t site) { return at(site).step; }
    // The lanes of a request that access global or shared memory. For shared memory with its wavefronts.
    void global(std::uint32_t site, unsigned warp, const WarpRequest& request, unsigned lanes,
                cuscope_simt::Access access, AccessedPlace place);
    void shared(std::uint32_t site, unsigned warp, const WarpRequest& request, unsigned lanes,
                cuscope_simt::Access access, AccessedPlace place, std::uint64_t wavefronts,
                std::uint64_t least);

    const std::vector<Site>& sites() const { return sites_; }
    LineProfile& profile() const { return profile_; }

  private:
    Site& at(std::uint32_t site) {
        if (sites_.size() <= site) sites_.resize(site + 1);
        return sites_[site];
    }
    ProfiledAccess& access(std::uint32_t site, cuscope_simt::Access kind, AccessedPlace place);
    void show(ProfiledAccess& access, std::uint64_t cost, unsigned warp, const WarpRequest& request,
              unsigned lanes, const AccessedPlace& place) const;

    LineProfile& profile_;
    std::uint64_t block_ = 0;
    std::vector<Site> sites_;
    Distinct sectors_;  // of the request that is being counted
};

class LineProfile {
  public:
    // `image` is the one that counts. Call prepare() once the ranges of `counting` are divided.
    explicit LineProfile(std::shared_ptr<const Image> image) : image_(std::move(image)) {}
    void prepare(const Counting& counting);

    // A warp has loaded this sector of a range.
    void loaded(std::size_t range, std::uintptr_t address);
    // `offsets`: of the instruction of each site.
    void add(const LineCounts& counts, const std::vector<std::uint32_t>& offsets);
    std::shared_ptr<LaunchProfile> result(const Counting& counting) const;

  private:
    void name(const AccessedPlace& place, const Counting& counting, ProfiledAccess& access) const;

    const std::shared_ptr<const Image> image_;
    // Of each range that a parameter points to: a bit for each sector.
    struct Sectors {
        std::uintptr_t begin = 0;
        std::vector<std::uint64_t> bits;
    };
    std::vector<Sectors> sectors_;
    std::mutex mutex_;
    std::map<std::uint32_t, LineCounts::Site> sites_;  // by the offset of the instruction
};

}  // namespace cuscope::simt
