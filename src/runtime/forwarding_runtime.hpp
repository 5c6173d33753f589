// The base class of decorators of the contract. It forwards every call to the wrapped runtime through one
// hook, and adds nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
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
    EventLook look_at(EventHandle event) override { return under_->look_at(event); }
    GraphNodeHandle last_captured(StreamHandle stream) override { return under_->last_captured(stream); }
    bool peek(void* destination, const void* source, std::size_t bytes) override {
        return under_->peek(destination, source, bytes);
    }
    void shut_down() noexcept override { under_->shut_down(); }
    Status wait_beside_captures() override { return under_->wait_beside_captures(); }
    std::int64_t trace_clock_ns() override { return under_->trace_clock_ns(); }
    WorkRecording set_recorder(ActivityRecorder* recorder) override { return under_->set_recorder(recorder); }
    std::string flush_records(bool last) override { return under_->flush_records(last); }
    bool describe_stream(StreamHandle stream, StreamRecord* record) override {
        return under_->describe_stream(stream, record);
    }
    bool call_begins(const StreamHandle* stream) override { return under_->call_begins(stream); }
    void call_ends() override { under_->call_ends(); }

#define CUSCOPE_METHOD(method, parameters, arguments)                  \
    Status method parameters override {                                \
        const auto forward = [&] { return under_->method arguments; }; \
        return around(#method, stream_in arguments, Forward(forward)); \
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
    // the contract, `stream` the stream that it was called with; null: none.
    virtual Status around(std::string_view method, const StreamHandle* stream, const Forward& forward) = 0;

    Runtime& under() { return *under_; }

  private:
    static const StreamHandle* stream_in() { return nullptr; }
    template <class First, class... Others>
    static const StreamHandle* stream_in(const First& first, const Others&... others) {
        if constexpr (std::is_same_v<First, StreamHandle>) {
            return &first;
        } else if constexpr (std::is_same_v<First, LaunchConfig>) {
            return &first.stream;
        } else {
            return stream_in(others...);
        }
    }

    const std::shared_ptr<Runtime> under_;
};

}  // namespace cuscope
