// The BLAS library of this process, if a Python package has loaded one: NumPy's wheels contain OpenBLAS. Used
// for simulated devices.
#pragma once

#include <complex>
#include <cstdint>
#include <string>

namespace cuscope::ops {

// C = A B, row-major. `a_row`, `b_row` and `c_row` are the distances between rows, in elements.
struct Gemm {
    std::int64_t m, n, k, a_row, b_row, c_row;
};

class Blas {
  public:
    // Searched for at the first call only.
    static const Blas& of_process();

    bool found() const { return !library_.empty(); }
    const std::string& library() const { return library_; }  // the path of its file

    void multiply(const Gemm& gemm, const float* a, const float* b, float* c) const;
    void multiply(const Gemm& gemm, const double* a, const double* b, double* c) const;
    void multiply(const Gemm& gemm, const std::complex<float>* a, const std::complex<float>* b,
                  std::complex<float>* c) const;
    void multiply(const Gemm& gemm, const std::complex<double>* a, const std::complex<double>* b,
                  std::complex<double>* c) const;

  private:
    Blas();

    std::string library_;
    bool wide_ = false;  // its integers have 64 bits
    void* functions_[4] = {};
};

}  // namespace cuscope::ops
