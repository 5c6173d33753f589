#include "core/stream/memory_operations.hpp"

#include <algorithm>

namespace cuscope::core {
namespace {

void check_on(const Device& device, const MemoryOperations& operations, const char* what) {
    if (operations.size() >= most_memory_operations) {
        throw std::invalid_argument("operations: " + std::to_string(operations.size()) +
                                    "; a batch has less than " + std::to_string(most_memory_operations));
    }
    for (const MemoryOperationOn& one : operations) {
        if (one.memory == nullptr) continue;
        const Device& other = one.memory->device();
        const bool on_host = dynamic_cast<const PinnedMemory*>(one.memory.get()) != nullptr;
        if (on_host ? other.shares_runtime(device) : &other == &device) continue;
        throw std::invalid_argument("array: is on " + other.name() + ", the " + what + " on " +
                                    device.name());
    }
}

std::vector<MemoryOperation> plain(const MemoryOperations& operations) {
    std::vector<MemoryOperation> made;
    for (const MemoryOperationOn& one : operations) made.push_back(one.operation);
    return made;
}

GraphNodeParameters parameters_of(const std::vector<MemoryOperation>& operations) {
    return BatchMemOpNodeParameters{operations.data(), static_cast<unsigned>(operations.size()), 0};
}

struct Call {
    const char* name;
    Status status;
};

Call enqueue_one(Runtime& runtime, StreamHandle stream, const MemoryOperation& one) {
    const auto low = static_cast<std::uint32_t>(one.value);
    switch (one.type) {
        case MemoryOperationType::write_value_32:
            return {"cuStreamWriteValue32",
                    runtime.stream_write_value_32(stream, one.address, low, one.flags)};
        case MemoryOperationType::write_value_64:
            return {"cuStreamWriteValue64",
                    runtime.stream_write_value_64(stream, one.address, one.value, one.flags)};
        case MemoryOperationType::wait_value_32:
            return {"cuStreamWaitValue32", runtime.stream_wait_value_32(stream, one.address, low, one.flags)};
        case MemoryOperationType::wait_value_64:
            return {"cuStreamWaitValue64",
                    runtime.stream_wait_value_64(stream, one.address, one.value, one.flags)};
        default:
            return {"cuStreamBatchMemOp", runtime.stream_batch_mem_op(stream, 1, &one, 0)};
    }
}

}  // namespace

void check_takes_operations(const Memory& memory) {
    const auto* const device = dynamic_cast<const DeviceMemory*>(&memory);
    if (device == nullptr) return;
    using Kind = DeviceMemory::Kind;
    const Kind kind = device->kind();
    if (kind != Kind::pooled && kind != Kind::managed && kind != Kind::graph) return;
    throw std::invalid_argument(
        std::string("array: is memory ") +
        (kind == Kind::pooled    ? "of a pool"
         : kind == Kind::managed ? "that is managed"
                                 : "that a node of a graph allocates") +
        ", which stream memory operations cannot use: take cs.empty_plain(), a variable of a module "
        "(Module.symbol) or page-locked memory (cs.pinned_empty)");
}

void enqueue(const StreamPtr& stream, const MemoryOperations& operations) {
    stream->check_usable();
    Device& device = stream->device();
    check_on(device, operations, "stream");
    if (operations.empty()) return;
    refuse_legacy_in_capture(*stream, "cuStreamBatchMemOp");
    const DeviceScope scope(device);
    const Enqueue enqueue(*stream);
    for (const MemoryOperationOn& one : operations) {
        if (one.memory) one.memory->use(stream, enqueue);
    }
    Runtime& runtime = device.runtime();
    for (const MemoryOperationOn& one : operations) {
        const MemoryOperation& operation = one.operation;
        if (!operation.writes() && !operation.waits()) continue;
        stream->note(operation.writes() ? Enqueued::write_value : Enqueued::wait_value,
                     reinterpret_cast<std::uintptr_t>(operation.address), operation.value,
                     std::uint64_t{operation.flags} << 8 | operation.bytes());
    }
    if (operations.size() == 1) {
        const Call call = enqueue_one(runtime, stream->handle(), operations.front().operation);
        device.check(call.status, call.name);
        return;
    }
    const std::vector<MemoryOperation> batch = plain(operations);
    device.check(
        runtime.stream_batch_mem_op(stream->handle(), static_cast<unsigned>(batch.size()), batch.data(), 0),
        "cuStreamBatchMemOp");
}

GraphNodePtr add_batch(Graph& graph, const MemoryOperations& operations, const GraphNodes& after) {
    check_on(graph.device(), operations, "graph");
    const std::vector<MemoryOperation> batch = plain(operations);
    const GraphNodePtr made = graph.add(parameters_of(batch), after, "cuGraphAddBatchMemOpNode");
    for (const MemoryOperationOn& one : operations) {
        if (one.memory) graph.keep(one.memory);
    }
    return made;
}

void set_batch(GraphExec& exec, const GraphNode& node, const MemoryOperations& operations) {
    check_on(exec.device(), operations, "executable");
    const std::vector<MemoryOperation> batch = plain(operations);
    exec.set_parameters(node, parameters_of(batch), "cuGraphExecBatchMemOpNodeSetParams");
    for (const MemoryOperationOn& one : operations) {
        if (one.memory) exec.keep(one.memory);
    }
}

}  // namespace cuscope::core
