#include "core/error.hpp"

#include <array>
#include <cstdio>

namespace cuscope::core {
namespace {

std::string compose(Status status, const std::string& call, const std::string& detail,
                    const std::string& hint) {
    std::string message = call + ": " + name(status) + " (" + text(status) + ")";
    if (!detail.empty()) message += ": " + detail;
    if (!hint.empty()) message += "\n  " + hint;
    return message;
}

struct Hint {
    Status status;
    const char* call;  // null: any
    const char* text;
};

// The first match is used.
constexpr std::array hints{
    Hint{Status::memory_allocation, "cudaHostAlloc",
         "The machine could not page-lock that much memory: allocate less, free other page-locked arrays, or "
         "use a plain NumPy array."},
    Hint{Status::memory_allocation, nullptr,
         "Free arrays that are no longer needed (del, .close()), work in smaller chunks, or see "
         "device.memory_info()."},
    Hint{Status::initialization_error, nullptr,
         "CUDA cannot be used in a child made by fork(). Start processes with "
         "multiprocessing.get_context('spawn'), or use the device only in the children."},
    Hint{Status::insufficient_driver, nullptr,
         "The driver is missing or older than this build needs: python -m cuscope doctor says which. "
         "Simulated devices (host:0) need none."},
    Hint{Status::no_device, nullptr,
         "There is no GPU that this process may use (CUDA_VISIBLE_DEVICES hides them too); "
         "host:0 simulates one."},
    Hint{Status::invalid_device, nullptr, "cuscope.devices() lists the devices there are."},
    Hint{Status::not_permitted, nullptr,
         "A host function may not call the runtime: let it signal another thread (threading.Event), and make "
         "the call there."},
    Hint{Status::not_ready, "cudaEventElapsedTime",
         "Both events must have happened: call stop.synchronize() first."},
    Hint{Status::invalid_resource_handle, "cudaEventElapsedTime",
         "Both events must be made with timing=True and have been recorded."},
    Hint{Status::invalid_device_function, nullptr,
         "The kernel was not built for this device: compile it from source, or build it for the device's "
         "compute capability."},
    Hint{Status::no_kernel_image_for_device, nullptr,
         "The file holds no code for this device: build it for the device's compute capability, or load "
         "PTX or source."},
    Hint{Status::invalid_kernel_image, nullptr,
         "The bytes are no image that this device loads: a cubin, PTX or fatbin on a GPU, a module's own "
         ".image on a simulated device."},
    Hint{Status::jit_compiler_not_found, nullptr,
         "python -m cuscope doctor says what is missing and how to get it."},
    Hint{Status::peer_access_unsupported, nullptr,
         "Ask device.can_access_peer(other) first; copies between the devices work without it."},
    Hint{Status::peer_access_already_enabled, nullptr, "Nothing is left to do."},
    Hint{Status::peer_access_not_enabled, nullptr, "Call device.enable_peer_access(other) first."},
    Hint{Status::unsupported_limit, nullptr, "This device does not have that limit."},
    Hint{Status::launch_out_of_resources, nullptr,
         "The kernel needs more registers or shared memory than a block of this size may have: use a smaller "
         "block (kernel.best_block_size())."},
    Hint{Status::stream_capture_unsupported, "cudaStreamBeginCapture",
         "The legacy default stream is never captured: make a stream, cuscope.Stream()."},
    Hint{Status::illegal_state, "cudaStreamBeginCapture",
         "The stream is being captured already: end that capture first."},
    Hint{Status::illegal_state, "cudaStreamEndCapture",
         "No capture was begun in this stream: call begin_capture() first."},
    Hint{Status::stream_capture_unmatched, nullptr,
         "End a capture in the stream in which it was begun; this stream joined it later."},
    Hint{Status::stream_capture_wrong_thread, nullptr,
         "The thread that began a capture ends it, unless it was begun with mode='relaxed'."},
    Hint{Status::invalid_value, "cudaGraphAddDependencies",
         "An edge connects two different nodes of one graph, which have no other edge between them; a "
         "programmatic edge begins at a kernel."},
    Hint{Status::invalid_value, "cudaGraphRemoveDependencies", "graph.edges lists the edges there are."},
    Hint{Status::invalid_value, "cudaGraphNodeFindInClone",
         "Pass a node of the original graph that was there when the graph was cloned."},
    Hint{Status::not_supported, "cuscopeAddDevice", "Only simulated devices can be added."},
};

}  // namespace

Error::Error(Status status, std::string call, std::string detail, std::string hint)
    : status_(status), call_(std::move(call)), detail_(std::move(detail)), hint_(std::move(hint)) {
    if (hint_.empty()) hint_ = usual_hint(status_, call_);
    message_ = compose(status_, call_, detail_, hint_);
}

CompileFailure::CompileFailure(Status status, std::string call, const std::string& log, std::string message)
    : Error(status, std::move(call), std::move(message)), log_(log) {}

std::string usual_hint(Status status, const std::string& call) {
    for (const Hint& hint : hints) {
        if (hint.status == status && (hint.call == nullptr || call == hint.call)) return hint.text;
    }
    if (is_sticky(status)) {
        return "The error belongs to work issued earlier, and the device is lost to this process: every "
               "later "
               "call on it fails. Start the process again; a simulated device can be replaced by another: "
               "cuscope.add_host_device().";
    }
    return {};
}

void log_failure(Status status, const char* call) noexcept {
    if (status == Status::success || is_sticky(status) || status == Status::cudart_unloading ||
        status == Status::context_is_destroyed) {
        return;
    }
    std::fprintf(stderr, "cuscope: %s: %s, while an object was released\n", call, name(status));
}

}  // namespace cuscope::core
