// The Mandelbrot set, in colour: complex numbers with operators, a table made by the compiler, a grid-stride loop.
template <typename Real>
struct Complex {
    Real re, im;
    constexpr __host__ __device__ Complex(Real r = 0, Real i = 0) : re(r), im(i) {}
    __device__ Real norm() const { return re * re + im * im; }
    friend __device__ Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
    friend __device__ Complex operator*(Complex a, Complex b) {
        return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    }
};

struct Palette {
    uchar4 colors[16];
    constexpr __host__ __device__ Palette() : colors() {
        for (int i = 0; i < 16; ++i) {
            colors[i].x = static_cast<unsigned char>(i * 16);
            colors[i].y = static_cast<unsigned char>((i * i) % 256);
            colors[i].z = static_cast<unsigned char>(255 - i * 16);
            colors[i].w = 255;
        }
    }
};

__constant__ const Palette palette;

struct View {
    float x0, y0, dx, dy;
    int width, height;
};

template <int LIMIT, typename Real>
__device__ int escape(Complex<Real> c) {
    Complex<Real> z;
    int n = 0;
    while (n < LIMIT && z.norm() < Real(4)) {
        z = z * z + c;
        ++n;
    }
    return n;
}

template <typename F>
__device__ void for_each_pixel(const View& view, F&& f) {
    for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < view.height; y += gridDim.y * blockDim.y)
        for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < view.width; x += gridDim.x * blockDim.x) f(x, y);
}

template <int LIMIT>
__global__ void mandelbrot(View view, int* counts, uchar4* image) {
    for_each_pixel(view, [=](int x, int y) {
        const Complex<float> c(view.x0 + x * view.dx, view.y0 + y * view.dy);
        const int n = escape<LIMIT>(c);
        counts[y * view.width + x] = n;
        image[y * view.width + x] = n == LIMIT ? make_uchar4(0, 0, 0, 255) : palette.colors[n % 16];
    });
}
