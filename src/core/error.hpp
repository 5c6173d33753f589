// The exceptions of core. A failed call of the contract becomes an Error with the status, the name of the
// call, the values involved and a hint how to fix it. The other classes are for arguments that are refused
// before any call is made. There are three policies: `Device::check` throws, `log_failure` is for
// destructors, and while the process exits failures are ignored.
#pragma once

#include <stdexcept>
#include <string>

#include "runtime/status.hpp"

namespace cuscope::core {

class Error : public std::exception {
  public:
    Error(Status status, std::string call, std::string detail = {}, std::string hint = {});

    Status status() const { return status_; }
    const std::string& call() const { return call_; }  // "cudaMalloc"
    const std::string& detail() const {
        return detail_;
    }                                                  // the failed operation with its values; may be empty
    const std::string& hint() const { return hint_; }  // the cause and the fix; may be empty
    const char* what() const noexcept override { return message_.c_str(); }

  private:
    Status status_;
    std::string call_, detail_, hint_, message_;
};

// A source that does not compile. `log` is the compiler's output, with the line numbers of the user's source.
class CompileFailure : public Error {
  public:
    CompileFailure(Status status, std::string call, const std::string& log, std::string message);
    const std::string& log() const { return log_; }

  private:
    std::string log_;
};

// A value of the wrong type: TypeError in Python. (A value that is not allowed is std::invalid_argument, one
// that is out of range of its type std::overflow_error, an unknown name std::out_of_range.)
class WrongKind : public std::invalid_argument {
  public:
    using std::invalid_argument::invalid_argument;
};

// A wait that ended because an interruption (such as Ctrl-C) was requested. The code that requested it knows
// why.
class Interrupted : public std::exception {
  public:
    const char* what() const noexcept override { return "interrupted"; }
};

// The usual cause and its fix, if the status and the call determine them; else "".
std::string usual_hint(Status status, const std::string& call);

// For destructors: prints one line to stderr, or none if the status only says that the device is gone.
void log_failure(Status status, const char* call) noexcept;

}  // namespace cuscope::core
