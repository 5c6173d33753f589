#include "core/stream/external_semaphore.hpp"

namespace cuscope::core {
namespace {

struct SemaphoreArrays {
    std::vector<ExternalSemaphoreHandle> handles;
    std::vector<ExternalSemaphoreParameters> parameters;
    unsigned count = 0;

    SemaphoreArrays(const Device& device, const SemaphoreValues& semaphores, const char* what)
        : count(static_cast<unsigned>(semaphores.size())) {
        if (semaphores.empty()) throw std::invalid_argument("semaphores: there are none");
        for (const SemaphoreValue& one : semaphores) {
            one.semaphore->check_usable();
            if (&one.semaphore->device() != &device) {
                throw std::invalid_argument("semaphores: one is on " + one.semaphore->device().name() +
                                            ", the " + what + " on " + device.name());
            }
            handles.push_back(one.semaphore->handle());
            parameters.push_back({one.value, 0});
        }
    }
};

GraphNodeParameters parameters_of(GraphNodeType type, const SemaphoreArrays& arrays) {
    const ExternalSemaphoreNodeParameters given{arrays.handles.data(), arrays.parameters.data(),
                                                arrays.count};
    if (type == GraphNodeType::external_semaphore_signal) return SemaphoreSignalNodeParameters{given};
    return SemaphoreWaitNodeParameters{given};
}

}  // namespace

std::shared_ptr<ExternalSemaphore> ExternalSemaphore::import(const DevicePtr& device,
                                                             ExternalSemaphoreType type, int fd) {
    const DeviceScope scope(*device);
    device->sweep();
    ExternalSemaphoreHandle handle = nullptr;
    const ExternalSemaphoreDescription description{type, fd, 0};
    device->check(device->runtime().import_external_semaphore(&handle, &description),
                  "cudaImportExternalSemaphore");
    return std::make_shared<ExternalSemaphore>(device, type, handle);
}

ExternalSemaphore::ExternalSemaphore(const DevicePtr& device, ExternalSemaphoreType type,
                                     ExternalSemaphoreHandle handle)
    : device_(device), type_(type), handle_(handle), generation_(device->generation()) {}

ExternalSemaphore::~ExternalSemaphore() {
    release_after_uses(
        device_, generation_, "cudaDestroyExternalSemaphore", uses_.take(),
        [handle = handle_](Runtime& runtime) { return runtime.destroy_external_semaphore(handle); });
}

void ExternalSemaphore::used_in(const StreamPtr& stream) {
    check_usable();
    uses_.add(stream);
}

void enqueue(const StreamPtr& stream, SemaphoreUse use, const SemaphoreValues& semaphores) {
    stream->check_usable();
    Device& device = stream->device();
    const SemaphoreArrays arrays(device, semaphores, "stream");
    const bool signal = use == SemaphoreUse::signal;
    const char* const call = signal ? "cudaSignalExternalSemaphoresAsync" : "cudaWaitExternalSemaphoresAsync";
    refuse_legacy_in_capture(*stream, call);
    const DeviceScope scope(device);
    const Enqueue enqueue(*stream);
    for (const SemaphoreValue& one : semaphores) one.semaphore->use(stream, enqueue);
    const auto enqueue_them =
        signal ? &Runtime::signal_external_semaphores_async : &Runtime::wait_external_semaphores_async;
    device.check((device.runtime().*enqueue_them)(arrays.handles.data(), arrays.parameters.data(),
                                                  arrays.count, stream->handle()),
                 call);
    stream->note(Enqueued::semaphore, arrays.count, signal ? 0 : 1);
}

GraphNodePtr add_semaphores(Graph& graph, SemaphoreUse use, const SemaphoreValues& semaphores,
                            const GraphNodes& after) {
    const SemaphoreArrays arrays(graph.device(), semaphores, "graph");
    const bool signal = use == SemaphoreUse::signal;
    const GraphNodePtr made = graph.add(
        parameters_of(
            signal ? GraphNodeType::external_semaphore_signal : GraphNodeType::external_semaphore_wait,
            arrays),
        after,
        signal ? "cudaGraphAddExternalSemaphoresSignalNode" : "cudaGraphAddExternalSemaphoresWaitNode");
    for (const SemaphoreValue& one : semaphores) graph.keep(std::static_pointer_cast<Memory>(one.semaphore));
    return made;
}

void set_semaphores(GraphExec& exec, const GraphNode& node, const SemaphoreValues& semaphores) {
    const SemaphoreArrays arrays(exec.device(), semaphores, "executable");
    const GraphNodeType type = node.type();
    if (type != GraphNodeType::external_semaphore_signal && type != GraphNodeType::external_semaphore_wait) {
        throw std::invalid_argument(std::string("node: is of type ") + name_of(type) +
                                    ", and has no semaphores");
    }
    exec.set_parameters(node, parameters_of(type, arrays),
                        type == GraphNodeType::external_semaphore_signal
                            ? "cudaGraphExecExternalSemaphoresSignalNodeSetParams"
                            : "cudaGraphExecExternalSemaphoresWaitNodeSetParams");
    for (const SemaphoreValue& one : semaphores) exec.keep(std::static_pointer_cast<Memory>(one.semaphore));
}

}  // namespace cuscope::core
