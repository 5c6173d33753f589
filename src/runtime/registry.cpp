#include "runtime/registry.hpp"

#include <algorithm>
#include <mutex>

#include "runtime/process.hpp"

namespace cuscope {
namespace {

struct Slot {
    RuntimeEntry entry;
    std::shared_ptr<Runtime> made;
};

// Never destroyed: handles outlive static destructors.
struct Registry {
    std::mutex mutex;
    std::vector<Slot> slots;
};

Registry& registry() {
    static Registry* const instance = new Registry;
    return *instance;
}

}  // namespace

RuntimeRegistration::RuntimeRegistration(RuntimeEntry entry) {
    auto& slots = registry().slots;
    const auto after = std::find_if(slots.begin(), slots.end(),
                                    [&](const Slot& slot) { return slot.entry.rank > entry.rank; });
    slots.insert(after, Slot{std::move(entry), nullptr});
}

std::vector<std::string> runtime_kinds() {
    std::vector<std::string> kinds;
    for (const Slot& slot : registry().slots) kinds.push_back(slot.entry.kind);
    return kinds;
}

std::shared_ptr<Runtime> runtime(const std::string& kind) {
    const std::lock_guard lock(registry().mutex);
    for (Slot& slot : registry().slots) {
        if (slot.entry.kind != kind) continue;
        if (!slot.made) {
            slot.made = slot.entry.make();
            note_runtime_use();
        }
        return slot.made;
    }
    return nullptr;
}

}  // namespace cuscope
