// What a failed call of the contract becomes: an Error that carries the status, the call, what is known about
// it and how to mend it. Also what is refused before any call is made. Three policies: `Device::check`
// throws, `log_failure` is for destructors, and nothing at all happens while the process exits.
#pragma once

#include <stdexcept>
#include <string>

#include "runtime/status.hpp"

namespace cuscope::core {

class Error : public std::exception {
  public:
    Error(Status status, std::string call, std::string detail = {}, std::string hint = {});

    Status status() const { return status_; }
    const std::string& call() const { return call_; }      // "cudaMalloc"
    const std::string& detail() const { return detail_; }  // what failed, with its values; may be empty
    const std::string& hint() const { return hint_; }      // the cause and the fix; may be empty
    const char* what() const noexcept override { return message_.c_str(); }

  private:
    Status status_;
    std::string call_, detail_, hint_, message_;
};

// A source that does not compile: `log` is the compiler's, at the user's own lines.
class CompileFailure : public Error {
  public:
    CompileFailure(Status status, std::string call, const std::string& log, std::string message);
    const std::string& log() const { return log_; }

  private:
    std::string log_;
};

// A value of a kind that is not taken where it came: Python's TypeError. (A value that is out of place is
// std::invalid_argument, one that does not fit std::overflow_error, a name that is not there
// std::out_of_range.)
class WrongKind : public std::invalid_argument {
  public:
    using std::invalid_argument::invalid_argument;
};

// A wait ended because somebody asked for it; whoever asked knows why.
class Interrupted : public std::exception {
  public:
    const char* what() const noexcept override { return "interrupted"; }
};

// The cause and the fix, where the status and the call are enough to know them; else "".
std::string usual_hint(Status status, const std::string& call);

// For destructors: one line on stderr, and none where the status only says that the device is gone.
void log_failure(Status status, const char* call) noexcept;

}  // namespace cuscope::core
