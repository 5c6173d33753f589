// Makes chosen calls of a runtime fail, so that what happens then can be tested. A call that fails does not
// reach the runtime underneath, and its status becomes the calling thread's last error.
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

    // Is this the name of a method of the contract that returns a Status?
    static bool is_method(std::string_view method);

    // The nth call of `method` from now on, 1 being the next, fails with `status`; once. Several faults may
    // wait at a time. False if there is no such method or `nth` is 0.
    bool fail(std::string_view method, std::uint64_t nth, Status status);
    // How often `method` was called, failed calls included, since the beginning or the last clear().
    std::uint64_t calls(std::string_view method) const;
    // Forgets the faults that have not happened yet, and the counts.
    void clear();

    std::string error_detail() override;

  protected:
    Status around(std::string_view method, const Forward& forward) override;

  private:
    struct Method {
        std::uint64_t calls = 0;
        std::map<std::uint64_t, Status> faults;  // by the number of the call
    };

    // The last error of the calling thread if this runtime made it up; success if the runtime underneath
    // knows.
    Status& injected();
    Status count(std::string_view method);

    const std::uint64_t id_;  // tells instances apart in what threads keep of them
    mutable std::mutex mutex_;
    std::map<std::string, Method, std::less<>> methods_;
};

}  // namespace cuscope
