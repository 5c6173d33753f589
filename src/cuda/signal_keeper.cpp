#include "cuda/signal_keeper.hpp"

#include <dlfcn.h>
#include <signal.h>

#include <array>
#include <chrono>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

namespace cuscope::cuda::nvrtc {
namespace {

constexpr std::array signals{SIGINT, SIGTERM, SIGHUP, SIGQUIT};
constexpr auto interval = std::chrono::milliseconds(2);
constexpr auto longest_watch = std::chrono::seconds(1);

bool is_of_nvrtc(const struct sigaction& action) {
    if ((action.sa_flags & SA_SIGINFO) == 0 &&
        (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)) {
        return false;
    }
    Dl_info info{};
    return dladdr(reinterpret_cast<void*>(action.sa_handler), &info) != 0 && info.dli_fname != nullptr &&
           std::strstr(info.dli_fname, "libnvrtc") != nullptr;
}

class Handlers {
  public:
    Handlers() { look(); }
    // True if some were NVRTC's. The program may set others meanwhile: they are kept.
    bool look() {
        bool found = false;
        for (std::size_t i = 0; i < signals.size(); ++i) {
            struct sigaction now {};
            if (sigaction(signals[i], nullptr, &now) != 0) continue;
            if (!is_of_nvrtc(now)) {
                known_[i] = now;
            } else {
                sigaction(signals[i], &known_[i], nullptr);
                found = true;
            }
        }
        return found;
    }

  private:
    std::array<struct sigaction, signals.size()> known_{};
};

}  // namespace

std::shared_ptr<const std::atomic<bool>> keep_signal_handlers(std::function<bool()> finished) {
    auto restored = std::make_shared<std::atomic<bool>>(false);
    // The handlers of now are the program's: the compiler has not begun.
    try {
        std::thread([handlers = Handlers(), restored, finished = std::move(finished)]() mutable {
            sigset_t all;
            sigfillset(&all);
            pthread_sigmask(SIG_SETMASK, &all, nullptr);
            // NVRTC sets its handlers once, at its start. A signal that another thread takes until they are
            // gone ends the process, so they are watched for without a pause.
            static std::atomic<bool> were_set{false};
            const auto begin = std::chrono::steady_clock::now();
            while (!finished()) {
                if (handlers.look()) {
                    restored->store(true);
                    were_set = true;
                }
                if (!were_set && std::chrono::steady_clock::now() - begin < longest_watch) {
                    std::this_thread::yield();
                } else {
                    std::this_thread::sleep_for(interval);
                }
            }
            handlers.look();
        }).detach();
    } catch (const std::system_error&) {
        // There can be no more threads: Ctrl-C ends the process while the compiler works.
    }
    return restored;
}

SignalsHeld::SignalsHeld() {
    sigset_t held;
    sigemptyset(&held);
    for (const int number : signals) sigaddset(&held, number);
    pthread_sigmask(SIG_BLOCK, &held, &before_);
}

void SignalsHeld::let_go() {
    if (!std::exchange(held_, false)) return;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace cuscope::cuda::nvrtc
