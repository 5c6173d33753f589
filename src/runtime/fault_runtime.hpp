// Makes chosen calls of a runtime fail, for tests of error handling. A call that fails does not reach the
// wrapped runtime, and its status becomes the calling thread's last error.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "runtime/forwarding_runtime.hpp"

namespace cuscope {

class FaultRuntime final : public ForwardingRuntime {
  public:
    explicit FaultRuntime(std::shared_ptr<Runtime> under);

    // Does the contract have a method of this name that returns a Status?
    static bool is_method(std::string_view method);

    // The nth call of `method` from now on (1 is the next call) fails with `status`, once. Several faults may
    // be set at the same time. False if there is no such method or `nth` is 0.
    bool fail(std::string_view method, std::uint64_t nth, Status status);
    // The number of calls of `method`, failed calls included, since the beginning or the last clear().
    std::uint64_t calls(std::string_view method) const;
    // Discards the counts and the faults that have not happened yet.
    void clear();

    std::string error_detail() override;

  protected:
    Status around(std::string_view method, const StreamHandle* stream, const Forward& forward) override;

  private:
    struct Method {
        std::uint64_t calls = 0;
        std::map<std::uint64_t, Status> faults;  // by call number
    };

    // The calling thread's last error if it was injected here. Success: ask the wrapped runtime.
    Status& injected();
    Status count(std::string_view method);

    const std::uint64_t id_;  // key of this instance in thread-local storage
    mutable std::mutex mutex_;
    std::map<std::string, Method, std::less<>> methods_;
};

}  // namespace cuscope
