// The time limit of a compilation: CUSCOPE_COMPILE_TIMEOUT, in seconds.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace cuscope {

class CompileLimit {
  public:
    // Reads the limit from the environment; its time starts now. Empty, with a sentence in *problem, if the
    // variable is not a number of seconds.
    static std::optional<CompileLimit> from_environment(std::string* problem);

    void start_again() { start_ = Clock::now(); }
    bool is_over() const {
        return seconds_ > 0 && Clock::now() - start_ > std::chrono::duration<double>(seconds_);
    }
    // "g++ was stopped after 300 seconds, ..."
    std::string message(const std::string& compiler, const char* what_became_of_it) const;

  private:
    using Clock = std::chrono::steady_clock;
    explicit CompileLimit(double seconds) : seconds_(seconds) {}

    double seconds_;  // 0: no limit
    Clock::time_point start_ = Clock::now();
};

}  // namespace cuscope
