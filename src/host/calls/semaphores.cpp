// The host runtime's external semaphores.
#include "host/effects/semaphore.hpp"
#include "host/graph/nodes/captured.hpp"
#include "host/runtime/call.hpp"
#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {
namespace {

Status enqueue_semaphores(Machine& machine, Lock& lock, const ExternalSemaphoreNodeParameters& parameters,
                          bool wait, StreamHandle handle) {
    const Found<Stream> stream = machine.find_stream(handle);
    if (stream == nullptr) return invalid_handle("stream");
    TRY(machine.captures.admit(*stream));
    if (parameters.count == 0) return fail(Status::invalid_value, "no semaphores");
    Command* command = nullptr;
    TRY(make_semaphores(machine, parameters, wait, *stream, &command));
    if (!stream->captured()) {
        machine.commit(command);
        machine.waits.relieve(lock);
        return Status::success;
    }
    return capture_semaphores(machine, *stream, parameters, wait, command);
}

}  // namespace

Status HostRuntime::import_external_semaphore(ExternalSemaphoreHandle* semaphore,
                                              const ExternalSemaphoreDescription* description) {
    ENTER(other);
    if (semaphore == nullptr || description == nullptr) return fail(Status::invalid_value);
    *semaphore = nullptr;
    std::shared_ptr<ExternalSemaphore> made;
    TRY(ExternalSemaphore::import_fd(*description, &made));
    *semaphore = reinterpret_cast<ExternalSemaphoreHandle>(made.get());
    machine_.semaphores.emplace(made.get(), std::move(made));
    return Status::success;
}

// Work in flight that uses the semaphore goes on.
Status HostRuntime::destroy_external_semaphore(ExternalSemaphoreHandle semaphore) {
    ENTER(other);
    if (machine_.semaphores.erase(semaphore) == 0) return invalid_handle("semaphore", Status::invalid_value);
    return Status::success;
}

Status HostRuntime::signal_external_semaphores_async(const ExternalSemaphoreHandle* semaphores,
                                                     const ExternalSemaphoreParameters* parameters,
                                                     unsigned count, StreamHandle stream) {
    ENTER(memory_operations);
    return enqueue_semaphores(machine_, call.lock(), {semaphores, parameters, count}, false, stream);
}

Status HostRuntime::wait_external_semaphores_async(const ExternalSemaphoreHandle* semaphores,
                                                   const ExternalSemaphoreParameters* parameters,
                                                   unsigned count, StreamHandle stream) {
    ENTER(memory_operations);
    return enqueue_semaphores(machine_, call.lock(), {semaphores, parameters, count}, true, stream);
}

}  // namespace cuscope::host
