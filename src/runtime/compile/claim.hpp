// Who compiles what a key of the cache names: one thread of all processes of this user. The others wait for
// its result.
#pragma once

#include <memory>
#include <string_view>

#include "runtime/compile/limit.hpp"
#include "runtime/status.hpp"

namespace cuscope {

// Held from wait() until it goes; the kernel lets go of the claim of a process that was killed. So make it
// before the result is stored, and leave it after.
class CompileClaim {
  public:
    CompileClaim();
    ~CompileClaim();
    CompileClaim(const CompileClaim&) = delete;
    CompileClaim& operator=(const CompileClaim&) = delete;

    // Waits while another one compiles this. Look into the cache again afterwards: what it compiled is there.
    // If it is not, compile: also where there is no claim to have, because there is no cache, because its
    // folder takes no locks, because the other one's compilation failed, or because it takes longer than the
    // limit. Status::not_ready if cuscope::interrupted().
    Status wait(std::string_view key, CompileLimit limit);

  private:
    struct Held;
    std::unique_ptr<Held> held_;
};

}  // namespace cuscope
