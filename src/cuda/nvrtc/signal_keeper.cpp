#include "cuda/nvrtc/signal_keeper.hpp"

#include <link.h>
#include <signal.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace cuscope::cuda::nvrtc {
namespace {

constexpr std::array signals{SIGINT, SIGTERM, SIGHUP, SIGQUIT};
constexpr auto interval = std::chrono::milliseconds(2);
constexpr auto longest_watch = std::chrono::seconds(1);

// The address range of NVRTC's code, to recognise its handlers. It is determined before the compiler begins:
// dladdr must not be called while another thread may be loading a library, which NVRTC does after it has set
// its handlers.
class CodeOfNvrtc {
  public:
    CodeOfNvrtc() { dl_iterate_phdr(note, this); }
    bool has(const struct sigaction& action) const {
        const auto address = reinterpret_cast<std::uintptr_t>(action.sa_handler);
        for (const Segment& segment : segments_)
            if (address >= segment.begin && address < segment.end) return true;
        return false;
    }

  private:
    struct Segment {
        std::uintptr_t begin, end;
    };

    static int note(dl_phdr_info* library, std::size_t, void* self) {
        if (std::strstr(library->dlpi_name, "libnvrtc") == nullptr) return 0;
        for (int i = 0; i < library->dlpi_phnum; ++i) {
            const auto& segment = library->dlpi_phdr[i];
            if (segment.p_type != PT_LOAD) continue;
            const std::uintptr_t begin = library->dlpi_addr + segment.p_vaddr;
            static_cast<CodeOfNvrtc*>(self)->segments_.push_back({begin, begin + segment.p_memsz});
        }
        return 0;
    }

    std::vector<Segment> segments_;
};

class Handlers {
  public:
    Handlers() { look(); }
    // Restores handlers that NVRTC replaced; true if there were any. Handlers that the program sets meanwhile
    // are kept.
    bool look() {
        bool found = false;
        for (std::size_t i = 0; i < signals.size(); ++i) {
            struct sigaction now {};
            if (sigaction(signals[i], nullptr, &now) != 0) continue;
            if (!nvrtc_.has(now)) {
                known_[i] = now;
            } else {
                sigaction(signals[i], &known_[i], nullptr);
                found = true;
            }
        }
        return found;
    }

  private:
    CodeOfNvrtc nvrtc_;
    std::array<struct sigaction, signals.size()> known_{};
};

}  // namespace

std::shared_ptr<const std::atomic<bool>> keep_signal_handlers(std::function<bool()> finished) {
    auto restored = std::make_shared<std::atomic<bool>>(false);
    // The current handlers are the program's own, since the compiler has not begun.
    try {
        std::thread([handlers = Handlers(), restored, finished = std::move(finished)]() mutable {
            sigset_t all;
            sigfillset(&all);
            pthread_sigmask(SIG_SETMASK, &all, nullptr);
            // NVRTC sets its handlers once, at its start. Until they are removed, a signal that another
            // thread receives ends the process. So this loop checks for them without a pause.
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
        // No thread can be created: Ctrl-C ends the process while the compiler runs.
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
