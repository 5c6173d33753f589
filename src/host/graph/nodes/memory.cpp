// Nodes that allocate memory and free it, and that memory.
#include "host/graph/nodes/node_of.hpp"
#include "host/runtime/call.hpp"

namespace cuscope::host {

template <class Parameters>
class HostRuntime::GraphNode::MemoryNode : public Of<Parameters> {
  public:
    void imitate(HostRuntime& runtime, const GraphNode& from) final {
        Of<Parameters>::imitate(runtime, from);
        memory_ = static_cast<const MemoryNode&>(from).memory_;
    }
    bool is_fixed() const final { return true; }
    bool manages_memory() const final { return true; }
    const GraphMemory* memory() const final { return memory_.get(); }

  protected:
    GraphExecUpdateResult difference_to(const Of<Parameters>& want) const final {
        return memory() == want.memory() ? GraphExecUpdateResult::success
                                         : GraphExecUpdateResult::not_supported;
    }

    std::shared_ptr<GraphMemory> memory_;
};

class HostRuntime::GraphNode::AllocNode final : public MemoryNode<AllocNodeParameters> {
  public:
    void note_instantiation(HostRuntime&) const override { memory_->instantiated = true; }
    Status check_launch(HostRuntime& runtime, bool frees) const override {
        if (!memory_->allocated || frees) return Status::success;
        return runtime.fail(Status::invalid_value,
                            "memory that the last launch allocated was not freed: free it, or instantiate "
                            "with auto_free_on_launch");
    }
    void enqueue(HostRuntime&, const Launch&, Command* made) const override {
        made->role = Role::allocation;
        memory_->allocated = true;
    }

    // Also writes the address to `given`.
    Status allocate(HostRuntime& runtime, AllocNodeParameters& given) {
        TRY(runtime.make_graph_memory(given, &memory_));
        given_ = given;
        given_.access = nullptr;
        given_.access_count = 0;
        return Status::success;
    }

  protected:
    Status set_given(HostRuntime& runtime, AllocNodeParameters& given) override {
        return allocate(runtime, given);
    }
};

class HostRuntime::GraphNode::FreeNode final : public MemoryNode<FreeNodeParameters> {
  public:
    void enqueue(HostRuntime&, const Launch&, Command* made) const override {
        made->role = Role::release;
        memory_->allocated = false;
    }
    void free(GraphMemory& memory) {
        memory_ = memory.shared_from_this();
        given_.pointer = memory.base;
    }

  protected:
    Status set_given(HostRuntime& runtime, FreeNodeParameters& given) override {
        GraphMemory* const found = runtime.graphs_->memory_at(given.pointer);
        if (found == nullptr) {
            return runtime.fail(Status::invalid_value,
                                "the address is not one that a node of a graph allocates");
        }
        for (const auto& other : graph->nodes) {
            if (other->memory() != found) continue;
            if (other->type() == GraphNodeType::mem_free)
                return runtime.fail(Status::invalid_value, "another node of the graph frees the memory");
            if (found->instantiated) {
                return runtime.fail(Status::invalid_value,
                                    "an executable was made of the graph, which leaves the memory allocated");
            }
        }
        free(*found);
        return Status::success;
    }
};

HostRuntime::GraphNode::Made HostRuntime::GraphNode::make(const AllocNodeParameters&) {
    return std::make_unique<AllocNode>();
}

HostRuntime::GraphNode::Made HostRuntime::GraphNode::make(const FreeNodeParameters&) {
    return std::make_unique<FreeNode>();
}

Status HostRuntime::capture_alloc(Stream& stream, void** pointer, std::size_t bytes, int device) {
    AllocNodeParameters parameters;
    parameters.bytes = bytes;
    parameters.pool.location.id = device;
    auto made = std::make_unique<GraphNode::AllocNode>();
    TRY(made->allocate(*this, parameters));
    add_captured(stream, std::move(made));
    *pointer = parameters.pointer;
    return Status::success;
}

Status HostRuntime::capture_free(Stream& stream, void* pointer) {
    GraphMemory* const memory = graphs_->memory_at(pointer);
    if (memory == nullptr) {
        stream.capture->graph->asked_for_memory = true;
        return fail(Status::invalid_value, "the address is not one that a node of the graph allocates");
    }
    auto made = std::make_unique<GraphNode::FreeNode>();
    made->free(*memory);
    add_captured(stream, std::move(made));
    return Status::success;
}

// ---- the memory

Status HostRuntime::make_graph_memory(AllocNodeParameters& parameters, std::shared_ptr<GraphMemory>* made) {
    if (parameters.pool.location.type != MemLocationType::device || parameters.pool.location.id < 0 ||
        parameters.pool.location.id >= device_count_ || parameters.bytes == 0) {
        return fail(Status::invalid_value, "a node allocates one byte or more of a device's memory");
    }
    sweep_graph_memory();
    const int index = parameters.pool.location.id;
    std::byte* const base = allocate(*devices_[index], parameters.bytes);
    if (base == nullptr) return out_of_memory(parameters.bytes);
    auto memory = std::make_shared<GraphMemory>();
    memory->runtime = this;
    memory->base = base;
    memory->bytes = parameters.bytes;
    memory->device = index;
    Allocation allocation{base, parameters.bytes, MemoryType::device, index};
    allocation.fixed = true;
    memory_.add(allocation);
    graphs_->memory.emplace(base, memory.get());
    parameters.pointer = base;
    *made = std::move(memory);
    return Status::success;
}

// The commands that may still use the memory have to end before it goes back.
void HostRuntime::retire_graph_memory(const GraphMemory& memory) {
    graphs_->memory.erase(memory.base);
    graphs_->retired.push_back({memory.base, memory.bytes, memory.device, last_of_device(memory.device)});
}

void HostRuntime::sweep_graph_memory() {
    std::erase_if(graphs_->retired, [&](const Graphs::Retired& retired) {
        for (const CommandRef& last : retired.last) {
            if (!effects_.functional(last.get())) return false;
        }
        memory_.remove(retired.base);
        devices_[retired.device]->arena->release(retired.base, retired.bytes);
        return true;
    });
}

}  // namespace cuscope::host
