// error 0 no such shape for this type
#include <mma.h>
__global__ void k(float* a) {
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 8, __half, nvcuda::wmma::row_major> f;
    *a = f.num_elements;
}
