// The right to compile for a key of the cache. One thread of all processes of this user has it; the others
// wait for its result.
#pragma once

#include <memory>
#include <string_view>

#include "runtime/compile/limit.hpp"
#include "runtime/status.hpp"

namespace cuscope {

// The claim is held from wait() until the object is destroyed. If the process is killed, the operating system
// releases it. So create the object before the result is stored, and destroy it after.
class CompileClaim {
  public:
    CompileClaim();
    ~CompileClaim();
    CompileClaim(const CompileClaim&) = delete;
    CompileClaim& operator=(const CompileClaim&) = delete;

    // Waits while another thread or process compiles for this key. Look into the cache again afterwards: the
    // result should be there. If it is not, compile, even if this object holds no claim. That happens if
    // there is no cache, if its folder supports no locks, if the other compilation failed, or if it took
    // longer than the limit. Status::not_ready if cuscope::interrupted().
    Status wait(std::string_view key, CompileLimit limit);

  private:
    struct Held;
    std::unique_ptr<Held> held_;
};

}  // namespace cuscope
