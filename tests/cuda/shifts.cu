// Shifts by as many bits as the left operand has, or more: everything is shifted out.
// launch numbers 1 1
// launch small_types 1 1
// launch assignments 1 1
// launch beside_templates 1 1
// launch constants 1 1
// launch of_classes 1 1
// launch precedence 1 64
#define CHECK(condition)                    \
    do {                                    \
        if (!(condition)) {                 \
            atomicAdd(&failures[0], 1u);    \
            failures[1] = __LINE__;         \
        }                                   \
    } while (0)

// A number that no compiler knows. NVRTC takes `x << s == 0` for false, for any s, if it knows that x is odd,
// and `x >> s == 0` if it knows that all bits of x are set.
__device__ volatile int nothing = 0;
__device__ int hidden(int value) { return value + nothing; }

__global__ void numbers(unsigned* failures) {
    int one = hidden(1);
    unsigned ones = hidden(-1);
    for (int k = 32; k < 200; k += 7) {
        int s = hidden(k);
        CHECK(one << s == 0 && 1 >> s == 0 && -8 >> s == -1);
        CHECK((unsigned)one << s == 0 && ones >> s == 0);
        if (k < 64) continue;
        CHECK((long long)one << s == 0 && -8ll >> s == -1 && (unsigned long)one << s == 0);
        CHECK((unsigned long long)(long long)(int)ones >> s == 0);
    }
    int s = hidden(32);
    CHECK(1ll << s == 0x100000000ll && 1ull << (s + 31) == 0x8000000000000000ull && -1ll >> s == -1);
    CHECK((1 << (s - 1)) == (int)0x80000000 && 0x80000000u >> (s - 1) == 1 && 5 << (s - 32) == 5);
    CHECK(one << hidden(-1) == 0 && -1 >> hidden(-5) == -1 && 7u >> hidden(-32) == 0);
    long long wide = 32;
    CHECK(one << (wide + s - 32) == 0 && one << (unsigned char)s == 0 && one << (short)s == 0);
    CHECK(3 >> s << s == 0 && 1 << s - 31 == 2 && 1 << s - 30 << 1 == 8);
}

__global__ void small_types(unsigned* failures) {
    int s = hidden(40), t = hidden(20);
    signed char a = -3;
    unsigned char b = 200;
    short c = -300;
    unsigned short d = 60000;
    bool e = hidden(1) != 0;
    CHECK(a >> s == -1 && b >> s == 0 && c >> s == -1 && d >> s == 0 && e << s == 0);
    CHECK(a >> t == -1 && b << t == 200 << 20 && c << t == -300 * (1 << 20) && e << t == 1 << 20);
}

struct Flags {
    unsigned low : 5, high : 27;
    unsigned whole;
    int list[2];
    __device__ void down(int s) {
        whole >>= s;
        low <<= s;
        this->high >>= s;
    }
};

__global__ void assignments(unsigned* failures) {
    int s = hidden(33);
    int x = -5;
    unsigned y = hidden(5);
    long long z = -5;
    x >>= s;
    y <<= s;
    z >>= s;
    CHECK(x == -1 && y == 0 && z == -1);
    z <<= s + 40;
    CHECK(z == 0);
    unsigned char c = 0x81;
    c <<= hidden(1);
    CHECK(c == 2);
    c <<= s;
    CHECK(c == 0);
    volatile int v = 9;
    v >>= s;
    CHECK(v == 0);
    Flags f = {3, 7, (unsigned)hidden(9), {1, 2}};
    Flags* p = &f;
    f.low <<= hidden(1);
    p->high <<= hidden(2);
    CHECK(f.low == 6 && f.high == 28);
    f.low <<= s;
    p->whole <<= s ? s : 1;
    p->list[1] <<= s;
    f.list[0] >>= s;
    CHECK(f.low == 0 && p->whole == 0 && p->list[1] == 0 && f.list[0] == 0);
    f.whole = 8;
    f.down(hidden(2));
    CHECK(f.whole == 2 && f.high == 7);
    f.down(s);
    CHECK(f.whole == 0 && f.high == 0);
    int a[3] = {hidden(1), 2, 3}, i = 0;
    a[i++] <<= s;
    CHECK(a[0] == 0 && i == 1);
    (a[1]) <<= s;
    *(a + 2) >>= s & 35;
    CHECK(a[1] == 0 && a[2] == 0);
    int q = 6, r = q <<= hidden(1);
    CHECK(r == 12 && q == 12 && (q >>= s) == 0);
}

template <int N>
struct Number {
    static constexpr int value = N;
};
template <class T, int N = (8 >> 1)>
struct Pair {
    T first;
    enum { half = N >> 1, twice = N << 1 };
};
template <class T>
__device__ T shifted(T value, int s) {
    return value << s;
}
template <int s>
__device__ int by_template() {
    return (-16 >> s) + (1 << s);
}

__global__ void beside_templates(unsigned* failures) {
    int s = hidden(32), n = 100;
    Pair<Pair<int>> p;
    p.first.first = 3;
    Pair<Pair<Pair<int, 2>>, (64 >> 2)> t = {};
    CHECK(sizeof(p) == sizeof(int) && t.half == 8 && t.twice == 32 && Pair<Number<3>>::half == 2);
    int count = 0;
    for (int i = 0; i < n >> 2; ++i) ++count;
    for (int i = 0; i < n >> s; ++i) ++count;
    for (int i = 0; i<n>> s; ++i) ++count;
    CHECK(count == 25);
    CHECK(shifted(hidden(1), s) == 0 && shifted(1ll, s) == 1ll << 32 && shifted<unsigned char>(1, s) == 0);
    CHECK(by_template<31>() == -1 + (int)0x80000000 && by_template<3>() == 6);
    CHECK(Number<(256 >> 3)>::value == 32 && Number<1 << 4>::value == 16);
    CHECK(static_cast<Number<sizeof(Pair<Pair<int>>)>*>(nullptr) == nullptr);
    auto lambda = [=](int v) { return v >> s; };
    CHECK(lambda(-1) == -1 && lambda(1) == 0);
    bool less = n < 1 << s, more = n > 1 << s;
    CHECK(!less && more);
}

constexpr int bits = 5;
enum { mask = (1 << bits) - 1, top = 1 << (bits + 20) };
__device__ int table[1 << bits];
struct Wide {
    int first : 1 << (bits - 2);
};
__host__ __device__ constexpr int half(int v, int s) { return v >> s; }
static_assert((1 << bits) == 32 && half(64, bits) == 2 && (1u << bits >> bits) == 1, "");

__global__ void constants(unsigned* failures) {
    __shared__ int shared[1 << bits];
    shared[0] = 1;
    switch (hidden(64)) {
        case 1 << bits: CHECK(false); break;
        case 2 << bits: break;
        default: CHECK(false);
    }
    constexpr unsigned char narrow{1 << (bits - 2)};
    CHECK(narrow == 8 && sizeof table == 128 && sizeof shared == 128 && mask == 31 && top == 1 << 25);
    CHECK(half(shared[0], hidden(99)) == 0);
}

struct Stream {
    int sum = 0, count = 0;
    __device__ Stream& operator<<(int v) {
        sum += v;
        ++count;
        return *this;
    }
    __device__ Stream& operator<<=(int v) {
        sum *= v;
        return *this;
    }
};
struct Big {
    int v;
};
__device__ Big operator>>(const Big& a, int s) { return {a.v - s}; }
__device__ int operator<<(int a, Big b) { return a * 100 + b.v; }
struct Amount {
    int v;
    __device__ operator int() const { return v; }
};

__global__ void of_classes(unsigned* failures) {
    int k = hidden(40);
    Stream out;
    out << k << 2 << k + 1;
    CHECK(out.sum == 83 && out.count == 3);
    out <<= k;
    CHECK(out.sum == 83 * 40);
    Big big{50};
    CHECK((big >> k).v == 10 && (Big{41} >> k).v == 1 && (k << big) == 4050);
    CHECK(1 << Amount{3} == 8);
}

__global__ void precedence(unsigned* failures) {
    unsigned lane = threadIdx.x & 31, s = threadIdx.x, one = hidden(1);
    CHECK((1u << lane) - 1 == (lane == 0 ? 0 : 0xffffffffu >> (32 - lane)));
    CHECK((s < 32 ? one<<lane : 0) == one<<s);
    unsigned x = 0x12345678u + s;
    CHECK(((x << lane) | (x >> (32 - lane))) == __funnelshift_l(x, x, lane));
    CHECK(one<<threadIdx.x == (s > 31 ? 0 : one << lane));
    CHECK((s & 1 << lane) == (s & (1 << lane)) && (1 << lane == 1 << lane));
    int i = 2;
    CHECK(1 << i++ == 4 && i == 3 && 1 << -(-i) == 8 && 1 << (i, 2) == 4 && ~1 << i == -16);
}
