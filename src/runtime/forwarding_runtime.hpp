// The base class of decorators of the contract. It forwards every call to the wrapped runtime through one
// hook, and adds nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/runtime.hpp"

namespace cuscope {

class ForwardingRuntime : public Runtime {
  public:
    explicit ForwardingRuntime(std::shared_ptr<Runtime> under) : under_(std::move(under)) {}

    std::string kind() const override { return under_->kind(); }
    bool simulated() const override { return under_->simulated(); }
    std::int64_t clock_ns() override { return under_->clock_ns(); }
    void host_work(std::int64_t nanoseconds) override { under_->host_work(nanoseconds); }
    std::string error_detail() override { return under_->error_detail(); }
    PendingList pending() override { return under_->pending(); }
    void shut_down() noexcept override { under_->shut_down(); }
    std::int64_t trace_clock_ns() override { return under_->trace_clock_ns(); }
    void set_recorder(ActivityRecorder* recorder) override { under_->set_recorder(recorder); }
    void flush_records() override { under_->flush_records(); }

#define CUSCOPE_METHOD(method, parameters, arguments)                  \
    Status method parameters override {                                \
        const auto forward = [&] { return under_->method arguments; }; \
        return around(#method, Forward(forward));                      \
    }
#include "runtime/runtime_methods.inc"
#undef CUSCOPE_METHOD

  protected:
    // One call to the wrapped runtime with its arguments; valid while `around` runs.
    class Forward {
      public:
        template <class Call>
        explicit Forward(const Call& call)
            : call_(&call),
              invoke_([](const void* target) { return (*static_cast<const Call*>(target))(); }) {}
        Status operator()() const { return invoke_(call_); }

      private:
        const void* call_;
        Status (*invoke_)(const void* target);
    };

    // Called for each call; a decorator forwards it or does something else. `method` is the method's name in
    // the contract.
    virtual Status around(std::string_view method, const Forward& forward) = 0;

    Runtime& under() { return *under_; }

  private:
    const std::shared_ptr<Runtime> under_;
};

}  // namespace cuscope
