// From a handle to its object. A handle is the address of its object. A look-up of a handle that names no
// object, or none any more, finds null. Private to src/host.
#pragma once

#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "host/runtime/lock.hpp"

namespace cuscope::host {

// The objects of one kind.
template <class Object, class Handle>
class Objects {
  public:
    Found<Object> find(Handle handle) const {
        const auto found = objects_.find(reinterpret_cast<const void*>(handle));
        return found == objects_.end() ? nullptr : found->second.get();
    }
    Handle add(std::unique_ptr<Object> object) {
        Object* const address = object.get();
        objects_.emplace(address, std::move(object));
        return reinterpret_cast<Handle>(address);
    }
    // Null if the handle names no object.
    std::unique_ptr<Object> remove(Handle handle) {
        auto removed = objects_.extract(reinterpret_cast<const void*>(handle));
        return removed.empty() ? nullptr : std::move(removed.mapped());
    }
    template <class Condition>
    void remove_if(const Condition& condition) {
        std::erase_if(objects_, [&](const auto& entry) { return condition(*entry.second); });
    }
    template <class Visit>
    void for_each(const Visit& visit) const {
        for (const auto& [address, object] : objects_) visit(*object);
    }

  private:
    std::unordered_map<const void*, std::unique_ptr<Object>> objects_;
};

// The handles of objects of one kind that other objects own.
template <class Object, class Handle>
class Handles {
  public:
    Found<Object> find(Handle handle) const {
        return alive_.contains(handle) ? reinterpret_cast<Object*>(handle) : nullptr;
    }
    bool contains(Handle handle) const { return alive_.contains(handle); }
    Handle add(Object& object) {
        alive_.insert(&object);
        return reinterpret_cast<Handle>(&object);
    }
    void remove(const Object& object) { alive_.erase(&object); }

  private:
    std::unordered_set<const void*> alive_;
};

}  // namespace cuscope::host
