#include "ops/matmul/blas.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <vector>

namespace cuscope::ops {
namespace {

constexpr int row_major = 101, no_transpose = 111;  // constants of CBLAS

template <class Integer, class Factor, class T>
using Real = void (*)(int, int, int, Integer, Integer, Integer, Factor, const T*, Integer, const T*, Integer,
                      Factor, T*, Integer);

template <class Integer, class Factor, class T>
void call(void* function, const Gemm& gemm, Factor one, Factor zero, const T* a, const T* b, T* c) {
    const auto to_integer = [](std::int64_t value) { return static_cast<Integer>(value); };
    reinterpret_cast<Real<Integer, Factor, T>>(function)(
        row_major, no_transpose, no_transpose, to_integer(gemm.m), to_integer(gemm.n), to_integer(gemm.k),
        one, a, to_integer(std::max<std::int64_t>(gemm.a_row, 1)), b,
        to_integer(std::max<std::int64_t>(gemm.b_row, 1)), zero, c,
        to_integer(std::max<std::int64_t>(gemm.c_row, 1)));
}

template <class Factor, class T>
void call(void* function, bool wide, const Gemm& gemm, Factor one, Factor zero, const T* a, const T* b,
          T* c) {
    if (wide) {
        call<std::int64_t>(function, gemm, one, zero, a, b, c);
    } else {
        call<int>(function, gemm, one, zero, a, b, c);
    }
}

// The shared objects of this process that look like a BLAS library.
std::vector<std::string> candidates() {
    std::vector<std::string> paths;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
            const std::string path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
            const std::string file = path.substr(path.rfind('/') + 1);
            for (const char* part : {"blas", "mkl_rt", "blis", "Accelerate"}) {
                if (file.find(part) != std::string::npos) {
                    static_cast<std::vector<std::string>*>(data)->push_back(path);
                    break;
                }
            }
            return 0;
        },
        &paths);
    return paths;
}

}  // namespace

const Blas& Blas::of_process() {
    static const Blas blas;
    return blas;
}

Blas::Blas() {
    struct Spelling {
        const char *before, *after;
        bool wide;
    };
    // SciPy's build of OpenBLAS, which NumPy's wheels contain, renames the functions.
    constexpr std::array spellings{Spelling{"scipy_cblas_", "64_", true}, Spelling{"cblas_", "64_", true},
                                   Spelling{"scipy_cblas_", "", false}, Spelling{"cblas_", "", false}};
    constexpr std::array names{"sgemm", "dgemm", "cgemm", "zgemm"};
    for (const std::string& path : candidates()) {
        void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
        if (handle == nullptr) continue;
        for (const Spelling& spelling : spellings) {
            for (std::size_t i = 0; i < names.size(); ++i) {
                functions_[i] =
                    dlsym(handle, (std::string(spelling.before) + names[i] + spelling.after).c_str());
            }
            if (std::find(std::begin(functions_), std::end(functions_), nullptr) != std::end(functions_))
                continue;
            library_ = path;
            wide_ = spelling.wide;
            return;  // the handle is never closed, so the library stays loaded
        }
        dlclose(handle);
    }
}

void Blas::multiply(const Gemm& gemm, const float* a, const float* b, float* c) const {
    call(functions_[0], wide_, gemm, 1.0F, 0.0F, a, b, c);
}

void Blas::multiply(const Gemm& gemm, const double* a, const double* b, double* c) const {
    call(functions_[1], wide_, gemm, 1.0, 0.0, a, b, c);
}

void Blas::multiply(const Gemm& gemm, const std::complex<float>* a, const std::complex<float>* b,
                    std::complex<float>* c) const {
    const std::complex<float> one(1), zero(0);
    call<const void*, void>(functions_[2], wide_, gemm, &one, &zero, a, b, c);
}

void Blas::multiply(const Gemm& gemm, const std::complex<double>* a, const std::complex<double>* b,
                    std::complex<double>* c) const {
    const std::complex<double> one(1), zero(0);
    call<const void*, void>(functions_[3], wide_, gemm, &one, &zero, a, b, c);
}

}  // namespace cuscope::ops
