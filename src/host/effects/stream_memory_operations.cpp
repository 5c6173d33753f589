#include "host/effects/stream_memory_operations.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "host/effects/kernel.hpp"
#include "host/runtime/machine.hpp"

namespace cuscope::host {
namespace {

std::string of_operation(const MemoryOperation& operation) {
    return std::string(operation.writes() ? "a write" : "a wait") + " of " +
           std::to_string(8 * operation.bytes()) + " bits";
}

template <class Word>
bool holds(const MemoryOperation& operation) {
    const auto found =
        std::atomic_ref<Word>(*static_cast<Word*>(operation.address)).load(std::memory_order_acquire);
    const auto value = static_cast<Word>(operation.value);
    switch (operation.flags) {
        case flags::wait_value_eq:
            return found == value;
        case flags::wait_value_and:
            return (found & value) != 0;
        case flags::wait_value_nor:
            return static_cast<Word>(~(found | value)) != 0;
        default:  // cyclic: the sign of the difference
            return static_cast<std::make_signed_t<Word>>(found - value) >= 0;
    }
}

template <class Word>
void store(const MemoryOperation& operation) {
    std::atomic_ref<Word>(*static_cast<Word*>(operation.address))
        .store(static_cast<Word>(operation.value), std::memory_order_release);
}

void write(const MemoryOperation& operation) {
    if (!operation.writes()) return;
    operation.bytes() == 8 ? store<std::uint64_t>(operation) : store<std::uint32_t>(operation);
}

// Did a command write this allocation already although its simulated end is still to come? Any kernel with an
// argument that points there counts as a writer, as does any host function if the memory is not device
// memory.
bool is_ahead(const Machine& machine, const void* address) {
    const Allocation* const allocation = machine.memory.find(address);
    return std::any_of(
        machine.timeline.ahead().begin(), machine.timeline.ahead().end(), [&](const Command* command) {
            if (!command->effect_done) return false;
            if (command->engine == Engine::host) return allocation->type != MemoryType::device;
            const auto* const kernel = dynamic_cast<const KernelEffect*>(command->effect.get());
            if (kernel == nullptr) return false;
            const auto& arguments = kernel->launch.arguments;
            for (std::size_t at = 0; at + sizeof(void*) <= arguments.size(); at += sizeof(void*)) {
                void* argument = nullptr;
                std::memcpy(&argument, arguments.data() + at, sizeof argument);
                if (machine.memory.find(argument) == allocation) return true;
            }
            return false;
        });
}

}  // namespace

void MemoryOperationsEffect::run() {
    for (const MemoryOperation& operation : operations_) write(operation);
}

// The memory may have been freed since the graph with these operations was launched.
Effect::Progress MemoryOperationsEffect::look() {
    const std::size_t before = next_;
    for (; next_ < operations_.size(); ++next_) {
        const MemoryOperation& operation = operations_[next_];
        if (operation.type == MemoryOperationType::barrier) continue;
        if (machine_.memory.find_range(operation.address, operation.bytes()) == nullptr) {
            machine_.devices[device_].lose(Status::illegal_address,
                                           "a memory operation on memory that was freed");
            return Progress::all;
        }
        if (operation.writes()) {
            write(operation);
            continue;
        }
        const bool done =
            operation.bytes() == 8 ? holds<std::uint64_t>(operation) : holds<std::uint32_t>(operation);
        if (!done || is_ahead(machine_, operation.address))
            return next_ == before ? Progress::none : Progress::some;
    }
    return Progress::all;
}

Status check_memory_operation(const Machine& machine, const MemoryOperation& operation, bool of_node) {
    constexpr unsigned conditions = flags::wait_value_nor;
    const std::string given = std::to_string(operation.flags);
    if (operation.type == MemoryOperationType::flush_remote_writes)
        return fail(Status::not_supported, "remote writes are not flushed by this device");
    if (operation.type == MemoryOperationType::barrier) {
        if (operation.flags <= flags::memory_barrier_device) return Status::success;
        return fail(Status::invalid_value, "flags of " + given + "; of a barrier they are 0 or 1");
    }
    if (!operation.writes() && !operation.waits()) {
        return fail(Status::invalid_value, "an operation of type " +
                                               std::to_string(static_cast<int>(operation.type)) +
                                               "; allowed are 1, 2, 4, 5 and 6");
    }
    if (operation.writes() && operation.flags != 0)
        return fail(Status::invalid_value, "flags of " + given + "; of a write they are 0");
    if (operation.waits() && (operation.flags & ~(conditions | flags::wait_value_flush)) != 0) {
        return fail(Status::invalid_value, "flags of " + given + "; of a wait they are 0 to 3");
    }
    if (operation.waits() && (operation.flags & flags::wait_value_flush) != 0)
        return fail(Status::not_supported, "remote writes are not flushed by this device");
    if (reinterpret_cast<std::uintptr_t>(operation.address) % operation.bytes() != 0) {
        return fail(Status::invalid_value, "the address of " + of_operation(operation) +
                                               " is a multiple of " + std::to_string(operation.bytes()) +
                                               " bytes");
    }
    if (of_node) return Status::success;
    const Allocation* const found = machine.memory.find_range(operation.address, operation.bytes());
    if (found == nullptr || found->type == MemoryType::managed || found->pool != nullptr) {
        return fail(Status::invalid_value,
                    of_operation(operation) +
                        " takes memory of cudaMalloc or page-locked memory, and this is " +
                        (found == nullptr                     ? "neither"
                         : found->type == MemoryType::managed ? "managed memory"
                                                              : "memory of a pool"));
    }
    return Status::success;
}

Status make_memory_operations(Machine& machine, const BatchMemOpNodeParameters& parameters, Stream& stream,
                              bool of_node, Command** made) {
    *made = nullptr;
    if (parameters.flags != 0) return fail(Status::invalid_value, "flags of a batch are 0");
    if (parameters.count == 0) return Status::success;
    if (parameters.operations == nullptr) return fail(Status::invalid_value, "the operations are null");
    if (parameters.count >= most_memory_operations) {
        return fail(Status::invalid_value, std::to_string(parameters.count) +
                                               " operations; a batch has less than " +
                                               std::to_string(most_memory_operations));
    }
    const DeviceModel& model = *machine.devices[stream.device].model;
    std::vector<MemoryOperation> operations(parameters.operations, parameters.operations + parameters.count);
    Time duration = model.memory_operations_ns;
    bool waits = false;
    for (const MemoryOperation& operation : operations) {
        TRY(check_memory_operation(machine, operation, of_node));
        waits |= operation.waits();
        duration += operation.waits()    ? model.wait_value_ns
                    : operation.writes() ? model.write_value_ns
                                         : model.memory_barrier_ns;
    }
    Command* command = machine.begin(stream, Engine::none);
    command->duration = duration;
    command->watches = waits;
    command->effect = std::make_shared<MemoryOperationsEffect>(machine, stream.device, std::move(operations));
    *made = command;
    return Status::success;
}

}  // namespace cuscope::host
