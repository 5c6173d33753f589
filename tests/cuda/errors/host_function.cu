// error 6 'exit' is a function of the host: a kernel cannot call it
// error 10 'abort' is a function of the host: a kernel cannot call it
#include <stdlib.h>
#include <unistd.h>
__device__ void leave(int code) {
    exit(code);
}
__global__ void k(int* p) {
    if (p[0] == 1) leave(p[0]);
    if (p[0] == 2) abort();
}
