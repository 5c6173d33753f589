// Every way to declare shared memory.
// launch forms 2 32
// launch dynamic 2 64 1024
// launch at_file_scope 2 64 1024
// launch carved 1 32 2048
// instance in_template<float, 8>
// instance in_template<double, 16>
// instance dynamic_template<int>
// instance dynamic_template<double>
// launch in_template<float,8> 1 8
// launch in_template<double,16> 1 16
// launch dynamic_template<int> 1 32 256
// launch dynamic_template<double> 1 32 256
// launch ns::in_namespace 1 32 128
#define CHECK(condition)                    \
    do {                                    \
        if (!(condition)) {                 \
            atomicAdd(&failures[0], 1u);    \
            failures[1] = __LINE__;         \
        }                                   \
    } while (0)

struct Cell {
    int a;
    float b;
};

__shared__ int at_scope[32];

__global__ void forms(unsigned* failures) {
    __shared__ float plane[4][9], line[36];
    __shared__ Cell cells[2][3];
    static __shared__ int kept;
    volatile __shared__ int before;
    __shared__ volatile int after;
    __shared__ __align__(16) unsigned char raw[64];
    __shared__ struct {
        int x, y;
    } unnamed;
    __shared__ union {
        float f;
        int i;
    } pun;
    float __shared__ behind[2];
    int t = threadIdx.x;
    plane[t / 8][t % 8] = t;
    line[t] = 2 * t;
    at_scope[t] = 3 * t;
    if (t == 0) {
        cells[1][2].a = 5;
        kept = 6;
        before = 7;
        after = 8;
        unnamed.x = 9;
        pun.f = 1.0f;
        behind[1] = 10;
        reinterpret_cast<float4*>(raw)[3] = make_float4(1, 2, 3, 4);
    }
    __syncthreads();
    int o = 31 - t;
    CHECK(plane[o / 8][o % 8] == o && line[o] == 2 * o && at_scope[o] == 3 * o);
    CHECK(cells[1][2].a == 5 && kept == 6 && before == 7 && after == 8 && unnamed.x == 9);
    CHECK(pun.i == 0x3f800000 && behind[1] == 10 && reinterpret_cast<float*>(raw)[14] == 3.0f);
    CHECK(sizeof(plane) == 144 && reinterpret_cast<unsigned long long>(raw) % 16 == 0);
}

__global__ void dynamic(unsigned* failures) {
    extern __shared__ float values[];
    values[threadIdx.x] = threadIdx.x;
    __syncthreads();
    CHECK(values[63 - threadIdx.x] == 63 - threadIdx.x);
    float* p = values;
    CHECK(p + 5 == &values[5]);
}

extern __shared__ int file_values[];

__device__ int read_back(int i) { return file_values[i]; }

__global__ void at_file_scope(unsigned* failures) {
    file_values[threadIdx.x] = 3 * threadIdx.x;
    __syncthreads();
    CHECK(read_back(63 - threadIdx.x) == 3 * (63 - (int)threadIdx.x));
    unsigned* p = reinterpret_cast<unsigned*>(file_values);
    CHECK(p[threadIdx.x] == 3 * threadIdx.x);
}

__global__ void carved(unsigned* failures) {
    extern __shared__ __align__(16) unsigned char memory[];
    float4* first = (float4*)memory;
    int* second = (int*)(memory + 32 * sizeof(float4));
    first[threadIdx.x] = make_float4(threadIdx.x, 0, 0, 1);
    second[threadIdx.x] = threadIdx.x;
    __syncthreads();
    CHECK(first[31 - threadIdx.x].x == 31 - threadIdx.x && second[31 - threadIdx.x] == 31 - (int)threadIdx.x);
}

template <class T, int N>
__global__ void in_template(unsigned* failures) {
    __shared__ T box[N][N + 1];
    for (int i = 0; i < N; ++i) box[i][threadIdx.x] = T(i) / 2;
    __syncthreads();
    CHECK(box[threadIdx.x][N - 1] == T(threadIdx.x) / 2 && sizeof(box) == sizeof(T) * N * (N + 1));
}

template <class T>
__global__ void dynamic_template(unsigned* failures) {
    extern __shared__ __align__(sizeof(double)) unsigned char bytes[];
    T* box = reinterpret_cast<T*>(bytes);
    box[threadIdx.x] = T(threadIdx.x);
    __syncthreads();
    CHECK(box[31 - threadIdx.x] == T(31 - threadIdx.x));
}

namespace ns {
extern __shared__ int inner[];
__global__ void in_namespace(unsigned* failures) {
    inner[threadIdx.x] = threadIdx.x;
    __syncthreads();
    CHECK(inner[31 - threadIdx.x] == 31 - (int)threadIdx.x);
}
}  // namespace ns
