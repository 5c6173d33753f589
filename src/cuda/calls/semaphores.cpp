// External semaphores, in streams and as nodes of graphs.
#include "cuda/calls/semaphores.hpp"

#include <algorithm>
#include <vector>

#include "cuda/cuda_runtime.hpp"
#include "cuda/handles.hpp"

namespace cuscope::cuda {
namespace {

cudaExternalSemaphore_t native(ExternalSemaphoreHandle semaphore) {
    return reinterpret_cast<cudaExternalSemaphore_t>(semaphore);
}

// The library's parameters for signals or for waits. Real is the library's parameter type.
template <class Real>
struct Semaphores {
    explicit Semaphores(const ExternalSemaphoreNodeParameters& given) : count(given.count) {
        for (unsigned i = 0; given.semaphores != nullptr && i < count; ++i)
            handles.push_back(native(given.semaphores[i]));
        for (unsigned i = 0; given.parameters != nullptr && i < count; ++i) {
            Real& real = parameters.emplace_back();
            real = {};
            real.params.fence.value = given.parameters[i].value;
            real.flags = given.parameters[i].flags;
        }
    }
    // The library would dereference null semaphores.
    bool has_null() const { return std::find(handles.begin(), handles.end(), nullptr) != handles.end(); }
    const cudaExternalSemaphore_t* semaphore_array() const {
        return handles.empty() ? nullptr : handles.data();
    }
    const Real* parameter_array() const { return parameters.empty() ? nullptr : parameters.data(); }
    template <class Node>
    Node node() {
        Node made{};
        made.extSemArray = handles.empty() ? nullptr : handles.data();
        made.paramsArray = parameters.empty() ? nullptr : parameters.data();
        made.numExtSems = count;
        return made;
    }

    std::vector<cudaExternalSemaphore_t> handles;
    std::vector<Real> parameters;
    unsigned count;
};
using Signals = Semaphores<cudaExternalSemaphoreSignalParams>;
using Waits = Semaphores<cudaExternalSemaphoreWaitParams>;
using SignalNode = cudaExternalSemaphoreSignalNodeParams;
using WaitNode = cudaExternalSemaphoreWaitNodeParams;

template <class Made, class Call>
cudaError_t with_semaphores(const ExternalSemaphoreNodeParameters& given, Call call) {
    Made made(given);
    return made.has_null() ? cudaErrorInvalidResourceHandle : call(made);
}

template <class Node>
void keep(const Node& real, ExternalSemaphoreNodeParameters* found) {
    static thread_local std::vector<ExternalSemaphoreHandle> handles;
    static thread_local std::vector<ExternalSemaphoreParameters> parameters;
    handles.clear();
    parameters.clear();
    for (unsigned i = 0; i < real.numExtSems; ++i) {
        handles.push_back(reinterpret_cast<ExternalSemaphoreHandle>(real.extSemArray[i]));
        parameters.push_back({real.paramsArray[i].params.fence.value, real.paramsArray[i].flags});
    }
    *found = {handles.data(), parameters.data(), real.numExtSems};
}

}  // namespace

cudaError_t add_semaphores(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                           std::size_t count, const SemaphoreSignalNodeParameters& given) {
    return with_semaphores<Signals>(given, [&](Signals& made) {
        const auto real = made.node<SignalNode>();
        return cudaGraphAddExternalSemaphoresSignalNode(node, graph, dependencies, count, &real);
    });
}

cudaError_t add_semaphores(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                           std::size_t count, const SemaphoreWaitNodeParameters& given) {
    return with_semaphores<Waits>(given, [&](Waits& made) {
        const auto real = made.node<WaitNode>();
        return cudaGraphAddExternalSemaphoresWaitNode(node, graph, dependencies, count, &real);
    });
}

cudaError_t get_semaphores(cudaGraphNode_t node, SemaphoreSignalNodeParameters& found) {
    SignalNode real{};
    const cudaError_t status = cudaGraphExternalSemaphoresSignalNodeGetParams(node, &real);
    if (status == cudaSuccess) keep(real, &found);
    return status;
}

cudaError_t get_semaphores(cudaGraphNode_t node, SemaphoreWaitNodeParameters& found) {
    WaitNode real{};
    const cudaError_t status = cudaGraphExternalSemaphoresWaitNodeGetParams(node, &real);
    if (status == cudaSuccess) keep(real, &found);
    return status;
}

cudaError_t set_semaphores(cudaGraphNode_t node, const SemaphoreSignalNodeParameters& given) {
    return with_semaphores<Signals>(given, [&](Signals& made) {
        const auto real = made.node<SignalNode>();
        return cudaGraphExternalSemaphoresSignalNodeSetParams(node, &real);
    });
}

cudaError_t set_semaphores(cudaGraphNode_t node, const SemaphoreWaitNodeParameters& given) {
    return with_semaphores<Waits>(given, [&](Waits& made) {
        const auto real = made.node<WaitNode>();
        return cudaGraphExternalSemaphoresWaitNodeSetParams(node, &real);
    });
}

cudaError_t set_semaphores(cudaGraphExec_t exec, cudaGraphNode_t node,
                           const SemaphoreSignalNodeParameters& given) {
    return with_semaphores<Signals>(given, [&](Signals& made) {
        const auto real = made.node<SignalNode>();
        return cudaGraphExecExternalSemaphoresSignalNodeSetParams(exec, node, &real);
    });
}

cudaError_t set_semaphores(cudaGraphExec_t exec, cudaGraphNode_t node,
                           const SemaphoreWaitNodeParameters& given) {
    return with_semaphores<Waits>(given, [&](Waits& made) {
        const auto real = made.node<WaitNode>();
        return cudaGraphExecExternalSemaphoresWaitNodeSetParams(exec, node, &real);
    });
}

Status CudaRuntime::import_external_semaphore(ExternalSemaphoreHandle* semaphore,
                                              const ExternalSemaphoreDescription* description) {
    clear(semaphore);
    if (description == nullptr) return failed(Status::invalid_value);
    cudaExternalSemaphoreHandleDesc real{};
    real.type = static_cast<cudaExternalSemaphoreHandleType>(description->type);
    real.handle.fd = description->fd;
    real.flags = description->flags;
    return make([&] {
        return cudaImportExternalSemaphore(reinterpret_cast<cudaExternalSemaphore_t*>(semaphore), &real);
    });
}

Status CudaRuntime::destroy_external_semaphore(ExternalSemaphoreHandle semaphore) {
    return make([&] { return cudaDestroyExternalSemaphore(native(semaphore)); });
}

Status CudaRuntime::signal_external_semaphores_async(const ExternalSemaphoreHandle* semaphores,
                                                     const ExternalSemaphoreParameters* parameters,
                                                     unsigned count, StreamHandle stream) {
    return make_in(stream, [&] {
        return with_semaphores<Signals>({semaphores, parameters, count}, [&](Signals& made) {
            return cudaSignalExternalSemaphoresAsync(made.semaphore_array(), made.parameter_array(), count,
                                                     cuda::native(stream));
        });
    });
}

Status CudaRuntime::wait_external_semaphores_async(const ExternalSemaphoreHandle* semaphores,
                                                   const ExternalSemaphoreParameters* parameters,
                                                   unsigned count, StreamHandle stream) {
    return make_in(stream, [&] {
        return with_semaphores<Waits>({semaphores, parameters, count}, [&](Waits& made) {
            return cudaWaitExternalSemaphoresAsync(made.semaphore_array(), made.parameter_array(), count,
                                                   cuda::native(stream));
        });
    });
}

}  // namespace cuscope::cuda
