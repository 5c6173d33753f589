// error 7 a __shared__ variable cannot have a type with a constructor
struct S {
    int a;
    __device__ S() { a = 3; }
};
__global__ void k(float* a) {
    __shared__ S s[4];
    a[0] = s[0].a;
}
