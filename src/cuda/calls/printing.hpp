// What kernels print: the driver writes it to the process's standard output when it is waited for, which is
// not where a notebook or a redirected Python prints, nor in order with what Python keeps back.
#pragma once

#include <string_view>

namespace cuscope::cuda {

// A library was loaded; its kernels may print.
void note_image(std::string_view image);

// While it lives, what the driver prints is kept, and then goes where Python prints; does nothing while no
// kernel prints. For calls that return at once: the work has been waited for.
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
