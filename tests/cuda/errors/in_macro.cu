// error 5 nope
#define BODY(x) a[0] = x

__global__ void k(float* a) {
    BODY(nope);
}
