// Makes records for traces from CUPTI's.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cuda/cupti/calls.hpp"
#include "runtime/activity.hpp"

namespace cuscope::cuda::cupti {

class Collector {
  public:
    explicit Collector(const Calls& calls) : calls_(calls) {}

    // Takes one record of CUPTI; records of other kinds are ignored. The work that has no times yet, because
    // it has not ended, is left out.
    void take(const void* record);
    // Describes a stream that work may name. Not during take() on the same thread.
    void add_stream(const StreamRecord& stream);
    bool knows_stream(std::uint64_t id);

    // Hands over the work that was taken; with `graphs`, also the launches of graphs, from the first start of
    // a node to the last end.
    void deliver(ActivityRecorder& recorder, bool graphs);
    // Forgets everything but the streams that were described.
    void clear();

  private:
    // Work in CUPTI's terms.
    struct Work {
        WorkRecord record;
        std::uint32_t correlation = 0;
        std::uint32_t context = 0, stream = 0;
        bool of_graph = false;
    };

    // A launch of a graph. CUPTI has records of the nodes alone; they have the correlation of the launch.
    struct GraphLaunch {
        WorkRecord record;
        bool handed_over = false;
        bool changed = false;  // nodes were added since then
    };

    void take_kernel(const void* record);
    template <class Layout>
    void take_copy(const Layout& copy);
    void add(Work work);
    std::uint32_t name_of_kernel(const char* mangled);
    void complete(Work& work);
    void note_node(Work& node);
    void deliver_graphs(std::vector<WorkRecord>* records);

    const Calls& calls_;
    std::mutex mutex_;                                       // never held during a call of CUPTI
    std::vector<WorkRecord> taken_;                          // since deliver()
    std::unordered_map<std::uint32_t, GraphLaunch> graphs_;  // by correlation
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> streams_;  // ids, by CUPTI's numbers
    std::map<std::uint64_t, StreamRecord> known_streams_;                       // by id
    std::unordered_map<std::string, std::uint32_t> kernel_names_;
};

}  // namespace cuscope::cuda::cupti
