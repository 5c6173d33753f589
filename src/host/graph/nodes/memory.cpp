// Nodes that allocate memory and free it.
#include "host/graph/nodes/captured.hpp"
#include "host/graph/nodes/node_of.hpp"

namespace cuscope::host {

template <class Parameters>
class MemoryNode : public NodeOf<Parameters> {
  public:
    void imitate(Machine& machine, const GraphNode& from) final {
        NodeOf<Parameters>::imitate(machine, from);
        memory_ = static_cast<const MemoryNode&>(from).memory_;
    }
    bool is_fixed() const final { return true; }
    bool manages_memory() const final { return true; }
    const GraphMemory* memory() const final { return memory_.get(); }

  protected:
    GraphExecUpdateResult difference_to(const NodeOf<Parameters>& want) const final {
        return memory() == want.memory() ? GraphExecUpdateResult::success
                                         : GraphExecUpdateResult::not_supported;
    }

    std::shared_ptr<GraphMemory> memory_;
};

class AllocNode final : public MemoryNode<AllocNodeParameters> {
  public:
    void note_instantiation(Machine&) const override { memory_->instantiated = true; }
    Status check_launch(Machine&, bool frees) const override {
        if (!memory_->allocated || frees) return Status::success;
        return fail(Status::invalid_value,
                    "memory that the last launch allocated was not freed: free it, or instantiate "
                    "with auto_free_on_launch");
    }
    void enqueue(Machine&, const Launch&, Command* made) const override {
        made->role = Role::allocation;
        memory_->allocated = true;
    }

    // Also writes the address to `given`.
    Status allocate(Machine& machine, AllocNodeParameters& given) {
        TRY(machine.graphs.make_memory(given, &memory_));
        given_ = given;
        given_.access = nullptr;
        given_.access_count = 0;
        return Status::success;
    }

  protected:
    Status set_given(Machine& machine, AllocNodeParameters& given) override {
        return allocate(machine, given);
    }
};

class FreeNode final : public MemoryNode<FreeNodeParameters> {
  public:
    void enqueue(Machine&, const Launch&, Command* made) const override {
        made->role = Role::release;
        memory_->allocated = false;
    }
    void free(GraphMemory& memory) {
        memory_ = memory.shared_from_this();
        given_.pointer = memory.base;
    }

  protected:
    Status set_given(Machine& machine, FreeNodeParameters& given) override {
        GraphMemory* const found = machine.graphs.memory_at(given.pointer);
        if (found == nullptr) {
            return fail(Status::invalid_value, "the address is not one that a node of a graph allocates");
        }
        for (const auto& other : graph->nodes) {
            if (other->memory() != found) continue;
            if (other->type() == GraphNodeType::mem_free)
                return fail(Status::invalid_value, "another node of the graph frees the memory");
            if (found->instantiated) {
                return fail(Status::invalid_value,
                            "an executable was made of the graph, which leaves the memory allocated");
            }
        }
        free(*found);
        return Status::success;
    }
};

GraphNode::Made GraphNode::make(const AllocNodeParameters&) { return std::make_unique<AllocNode>(); }

GraphNode::Made GraphNode::make(const FreeNodeParameters&) { return std::make_unique<FreeNode>(); }

Status capture_alloc(Machine& machine, Stream& stream, void** pointer, std::size_t bytes, int device) {
    AllocNodeParameters parameters;
    parameters.bytes = bytes;
    parameters.pool.location.id = device;
    auto made = std::make_unique<AllocNode>();
    TRY(made->allocate(machine, parameters));
    machine.captures.add(stream, std::move(made));
    *pointer = parameters.pointer;
    return Status::success;
}

Status capture_free(Machine& machine, Stream& stream, void* pointer) {
    GraphMemory* const memory = machine.graphs.memory_at(pointer);
    if (memory == nullptr) {
        stream.capture->graph->asked_for_memory = true;
        return fail(Status::invalid_value, "the address is not one that a node of the graph allocates");
    }
    auto made = std::make_unique<FreeNode>();
    made->free(*memory);
    machine.captures.add(stream, std::move(made));
    return Status::success;
}

}  // namespace cuscope::host
