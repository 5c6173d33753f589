// The output of kernels' printf. The driver writes it to the process's standard output when the program
// synchronizes. A notebook or a redirected Python prints elsewhere, and Python buffers its own output, so the
// order would be wrong too.
//
// For up to one kernel in 500, a thread of the driver (580.159) writes the output between two calls of the
// program. A PrintCapture exists during calls only, so this output goes to the standard output of the
// process.
#pragma once

#include <string_view>

namespace cuscope::cuda {

// To be called for every loaded image: its kernels may print.
void note_image(std::string_view image);

// While this object lives, the driver's output is kept; afterwards it goes to Python's output. Does nothing
// if no loaded kernel prints. Only for calls that return at once, because their work has already been waited
// for.
class PrintCapture {
  public:
    PrintCapture();
    PrintCapture(const PrintCapture&) = delete;
    PrintCapture& operator=(const PrintCapture&) = delete;
    ~PrintCapture();

  private:
    int saved_ = -1, file_ = -1;
};

}  // namespace cuscope::cuda
