// The workspaces of captured reductions. The blocks of a reduction exchange values there, so two copies of a
// graph that run at once need one each: copies of its nodes in executables, in clones, and in child graphs.
#include <algorithm>
#include <cstring>

#include "core/graph/graph.hpp"

namespace cuscope::core {
namespace {

// The arguments of a kernel node with some pointers replaced, also pointers within a struct.
class MovedArguments {
  public:
    MovedArguments(Runtime& runtime, const KernelNodeParameters& node,
                   const std::map<const void*, void*>& moved) {
        if (node.arguments == nullptr) return;
        std::size_t offset = 0, bytes = 0;
        for (std::size_t i = 0;
             runtime.func_get_param_info(node.kernel, i, &offset, &bytes) == Status::success; ++i) {
            const auto* const from = static_cast<const std::byte*>(node.arguments[i]);
            values_.emplace_back(from, from + bytes);
        }
        runtime.get_last_error();  // the number of a parameter that the kernel does not have
        for (auto& value : values_) {
            for (std::size_t at = 0; at + sizeof(void*) <= value.size(); at += sizeof(void*))
                replace(value.data() + at, moved);
            pointers_.push_back(value.data());
        }
    }
    bool differ() const { return differ_; }
    void** pointers() { return pointers_.data(); }

  private:
    void replace(std::byte* word, const std::map<const void*, void*>& moved) {
        const void* pointer = nullptr;
        std::memcpy(&pointer, word, sizeof(pointer));
        const auto found = moved.find(pointer);
        if (found == moved.end()) return;
        std::memcpy(word, &found->second, sizeof(pointer));
        differ_ = true;
    }

    std::vector<std::vector<std::byte>> values_;
    std::vector<void*> pointers_;
    bool differ_ = false;
};

}  // namespace

void Graph::move_workspaces(const std::map<const void*, void*>& moved) {
    Runtime& runtime = device_->runtime();
    for (const GraphNodePtr& node : nodes()) {
        for (const auto& body : node->bodies()) body->move_workspaces(moved);
        GraphNodeParameters parameters = node->parameters();
        if (auto* const kernel = std::get_if<KernelNodeParameters>(&parameters)) {
            MovedArguments arguments(runtime, *kernel, moved);
            if (!arguments.differ()) continue;
            kernel->arguments = arguments.pointers();
            device_->check(runtime.graph_node_set_params(node->handle(), &parameters),
                           "cudaGraphKernelNodeSetParams");
        } else if (auto* const memset = std::get_if<MemsetNodeParameters>(&parameters)) {
            const auto found = moved.find(memset->pointer);
            if (found == moved.end()) continue;
            memset->pointer = found->second;
            device_->check(runtime.graph_node_set_params(node->handle(), &parameters),
                           "cudaGraphMemsetNodeSetParams");
        }
    }
}

Keepers Graph::keepers_of_copy(GraphExec* updated) {
    if (parent_) return parent_->keepers_of_copy(updated);
    std::vector<std::shared_ptr<DeviceMemory>> shared;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& memory : keepers_.workspaces()) {
            const long owners = updated != nullptr && updated->keeps(memory) ? 2 : 1;
            if (memory.use_count() > owners) shared.push_back(memory);
        }
    }
    if (!shared.empty()) {
        const DeviceScope scope(*device_);
        std::map<const void*, void*> moved;
        for (const auto& memory : shared) {
            const auto made = DeviceMemory::allocate_plain(device_, memory->bytes());
            moved[memory->pointer()] = made->pointer();
            const std::lock_guard lock(mutex_);
            keepers_.keep_workspace(made);
        }
        move_workspaces(moved);
        const std::lock_guard lock(mutex_);
        keepers_.drop_workspaces(shared);
    }
    return keepers();
}

}  // namespace cuscope::core
