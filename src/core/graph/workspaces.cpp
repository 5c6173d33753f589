// The workspaces of captured reductions. The blocks of a reduction exchange values there, so two copies of a
// graph that run at once need one each: copies of its nodes in executables, in clones, and in child graphs.
#include <algorithm>
#include <cstring>
#include <set>

#include "core/graph/graph.hpp"

namespace cuscope::core {
namespace {

using Moved = std::map<const void*, void*>;  // old addresses, and new ones

// Not every driver tells the parameters of a kernel that a graph node names, or lets them be changed.
bool is_not_offered(Status status) {
    return status == Status::invalid_device_function || status == Status::invalid_resource_handle ||
           status == Status::not_supported || status == Status::call_requires_newer_driver;
}

// A copy of a kernel node's arguments; none if the kernel has none or the driver does not tell them.
class NodeArguments {
  public:
    NodeArguments(Device& device, const KernelNodeParameters& node) {
        if (node.arguments == nullptr) return;
        std::size_t offset = 0, bytes = 0;
        for (std::size_t i = 0;; ++i) {
            const Status status = device.runtime().func_get_param_info(node.kernel, i, &offset, &bytes);
            if (status == Status::invalid_value) break;  // the kernel has no such parameter
            if (is_not_offered(status)) {
                values_.clear();
                break;
            }
            device.check(status, "cudaFuncGetParamInfo");
            const auto* const from = static_cast<const std::byte*>(node.arguments[i]);
            values_.emplace_back(from, from + bytes);
        }
        device.runtime().get_last_error();
    }

    // Replaces addresses, also within a struct. Returns the old ones.
    std::set<const void*> replace(const Moved& moved) {
        std::set<const void*> found;
        for (auto& value : values_) {
            for (std::size_t at = 0; at + sizeof(void*) <= value.size(); at += sizeof(void*)) {
                const void* address = nullptr;
                std::memcpy(&address, value.data() + at, sizeof(address));
                const auto known = moved.find(address);
                if (known == moved.end()) continue;
                std::memcpy(value.data() + at, &known->second, sizeof(address));
                found.insert(address);
            }
        }
        return found;
    }

    std::vector<void*> pointers() {
        std::vector<void*> pointers;
        for (auto& value : values_) pointers.push_back(value.data());
        return pointers;
    }

  private:
    std::vector<std::vector<std::byte>> values_;
};

// A node that names a workspace, with its parameters as they are and as they will be.
struct Change {
    GraphNodePtr node;
    GraphNodeParameters parameters;
    std::shared_ptr<NodeArguments> before, after;  // null: a memset
    const void *old_pointer = nullptr, *new_pointer = nullptr;

    Status set(Runtime& runtime, bool back) {
        std::vector<void*> arguments;
        if (auto* const kernel = std::get_if<KernelNodeParameters>(&parameters)) {
            arguments = (back ? before : after)->pointers();
            kernel->arguments = arguments.data();
        } else {
            std::get<MemsetNodeParameters>(parameters).pointer =
                const_cast<void*>(back ? old_pointer : new_pointer);
        }
        return runtime.graph_node_set_params(node->handle(), &parameters);
    }
};

// The changes in the graph and in all graphs within it, and the addresses that kernels name.
void collect(Graph& graph, const Moved& moved, std::vector<Change>* changes, std::set<const void*>* found) {
    for (const GraphNodePtr& node : graph.nodes()) {
        for (const auto& body : node->bodies()) collect(*body, moved, changes, found);
        const GraphNodeParameters parameters = node->parameters();
        if (const auto* const kernel = std::get_if<KernelNodeParameters>(&parameters)) {
            const NodeArguments before(graph.device(), *kernel);
            auto after = std::make_shared<NodeArguments>(before);
            const std::set<const void*> named = after->replace(moved);
            if (named.empty()) continue;
            found->insert(named.begin(), named.end());
            changes->push_back({node, parameters, std::make_shared<NodeArguments>(before), after});
        } else if (const auto* const memset = std::get_if<MemsetNodeParameters>(&parameters)) {
            const auto known = moved.find(memset->pointer);
            if (known != moved.end())
                changes->push_back({node, parameters, nullptr, nullptr, known->first, known->second});
        }
    }
}

// Makes all changes or none. False: none, because the driver refuses such a change.
bool make(Device& device, std::vector<Change>& changes) {
    for (std::size_t i = 0; i < changes.size(); ++i) {
        const Status status = changes[i].set(device.runtime(), false);
        if (status == Status::success) continue;
        while (i-- > 0) changes[i].set(device.runtime(), true);
        if (!is_not_offered(status) && status != Status::invalid_value)
            device.check(status, "cudaGraphNodeSetParams");
        device.runtime().get_last_error();
        return false;
    }
    return true;
}

}  // namespace

Graph::Copying Graph::begin_copy(GraphExec* updated) {
    if (parent_) return parent_->begin_copy(updated);
    Copying copying{std::unique_lock(copying_), {}};
    std::vector<std::shared_ptr<DeviceMemory>> shared, made;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& memory : keepers_.workspaces()) {
            const long owners = updated != nullptr && updated->keeps(memory) ? 2 : 1;
            if (memory.use_count() > owners) shared.push_back(memory);
        }
    }
    if (!shared.empty()) {
        const DeviceScope scope(*device_);
        Moved moved;
        for (const auto& memory : shared) {
            made.push_back(DeviceMemory::allocate_plain(device_, memory->bytes()));
            moved[memory->pointer()] = made.back()->pointer();
        }
        std::vector<Change> changes;
        std::set<const void*> found;
        collect(*this, moved, &changes, &found);
        // The runtime does not tell the bodies of every conditional node. A workspace of such a body stays.
        std::erase_if(changes, [&](const Change& change) {
            return change.old_pointer != nullptr && !found.contains(change.old_pointer);
        });
        const bool made_all = make(*device_, changes);
        const std::lock_guard lock(mutex_);
        for (std::size_t i = 0; made_all && i < shared.size(); ++i) {
            if (!found.contains(shared[i]->pointer())) continue;
            keepers_.drop_workspace(shared[i]);
            keepers_.keep_workspace(made[i]);
        }
    }
    copying.keepers = keepers();
    return copying;
}

}  // namespace cuscope::core
