#include "host/runtime/thread_state.hpp"

#include <atomic>

namespace cuscope::host {

ThreadState& thread() {
    static thread_local ThreadState state;
    static std::atomic<unsigned long long> threads{0};
    if (state.id == 0) state.id = ++threads;
    return state;
}

Status fail(Status status, std::string detail) {
    thread().last = status;
    thread().detail = std::move(detail);
    return status;
}

Status invalid_handle(const char* what, Status status) {
    return fail(status, std::string("the ") + what + " does not exist, or was destroyed");
}

}  // namespace cuscope::host
