// Intrinsics, conversions and atomic operations of CUDA.
#pragma once

// --- bits --------------------------------------------------------------------------------------

inline int __float_as_int(float v) { return cuda_on_cpu::bits_as<int>(v); }
inline unsigned __float_as_uint(float v) { return cuda_on_cpu::bits_as<unsigned>(v); }
inline float __int_as_float(int v) { return cuda_on_cpu::bits_as<float>(v); }
inline float __uint_as_float(unsigned v) { return cuda_on_cpu::bits_as<float>(v); }
inline long long __double_as_longlong(double v) { return cuda_on_cpu::bits_as<long long>(v); }
inline double __longlong_as_double(long long v) { return cuda_on_cpu::bits_as<double>(v); }
inline int __popc(unsigned v) { return __builtin_popcount(v); }
inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
inline int __clz(int v) { return v ? __builtin_clz(v) : 32; }
inline int __ffs(int v) { return __builtin_ffs(v); }
inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<uint64_t>(a) * b >> 32; }
inline int __mulhi(int a, int b) { return static_cast<int>(static_cast<int64_t>(a) * b >> 32); }

inline unsigned __brev(unsigned v)
{
    unsigned reversed = 0;
    for (int i = 0; i < 32; i++)
        reversed |= (v >> i & 1) << (31 - i);
    return reversed;
}

// Four bytes of the eight of a and b (a's first), by the low three bits of each nibble of s; its
// highest bit repeats the sign (PTX ISA, prmt).
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned s)
{
    const uint64_t bytes = static_cast<uint64_t>(b) << 32 | a;
    unsigned result = 0;
    for (int i = 0; i < 4; i++) {
        const unsigned chosen = s >> 4 * i & 15, byte = bytes >> 8 * (chosen & 7) & 255;
        result |= (chosen & 8 ? (byte & 128 ? 255 : 0) : byte) << 8 * i;
    }
    return result;
}

inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift)
{
    return static_cast<unsigned>((static_cast<uint64_t>(high) << 32 | low) << (shift & 31) >> 32);
}

inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift)
{
    return static_cast<unsigned>((static_cast<uint64_t>(high) << 32 | low) >> (shift & 31));
}

inline int __dp4a(int a, int b, int c)
{
    for (int i = 0; i < 4; i++)
        c += static_cast<int8_t>(a >> 8 * i) * static_cast<int8_t>(b >> 8 * i);
    return c;
}

inline unsigned __dp4a(unsigned a, unsigned b, unsigned c)
{
    for (int i = 0; i < 4; i++)
        c += (a >> 8 * i & 255) * (b >> 8 * i & 255);
    return c;
}

// --- conversions: they saturate, and NaN gives 0 -----------------------------------------------

namespace cuda_on_cpu __attribute__((visibility("hidden"))) {

template <class I>
I saturated(double v, double low, double high)
{
    if (v != v)
        return 0;
    if (v <= low)
        return std::numeric_limits<I>::min();
    return v >= high ? std::numeric_limits<I>::max() : static_cast<I>(v);
}

inline int to_int(double v) { return saturated<int>(v, -0x1p31, 0x1p31 - 1); }
inline unsigned to_uint(double v) { return saturated<unsigned>(v, 0, 0x1p32 - 1); }
inline long long to_longlong(double v) { return saturated<long long>(v, -0x1p63, 0x1p63); }

}  // namespace cuda_on_cpu

#define CUDA_CPU_TO_INTEGER(T, FROM, NAME, CONVERT) \
    inline T __##FROM##2##NAME##_rz(FROM v) { return cuda_on_cpu::CONVERT(std::trunc(v)); } \
    inline T __##FROM##2##NAME##_rn(FROM v) { return cuda_on_cpu::CONVERT(std::nearbyint(v)); } \
    inline T __##FROM##2##NAME##_rd(FROM v) { return cuda_on_cpu::CONVERT(std::floor(v)); } \
    inline T __##FROM##2##NAME##_ru(FROM v) { return cuda_on_cpu::CONVERT(std::ceil(v)); }
CUDA_CPU_TO_INTEGER(int, float, int, to_int)
CUDA_CPU_TO_INTEGER(unsigned, float, uint, to_uint)
CUDA_CPU_TO_INTEGER(long long, float, ll, to_longlong)
CUDA_CPU_TO_INTEGER(int, double, int, to_int)
CUDA_CPU_TO_INTEGER(unsigned, double, uint, to_uint)
CUDA_CPU_TO_INTEGER(long long, double, ll, to_longlong)
inline float __int2float_rn(int v) { return static_cast<float>(v); }
inline float __uint2float_rn(unsigned v) { return static_cast<float>(v); }
inline float __ll2float_rn(long long v) { return static_cast<float>(v); }
inline float __double2float_rn(double v) { return static_cast<float>(v); }

// --- arithmetic --------------------------------------------------------------------------------

inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fsqrt_rn(float a) { return sqrtf(a); }
inline float __frcp_rn(float a) { return 1.0f / a; }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __expf(float v) { return expf(v); }
inline float __exp2f(float v) { return exp2f(v); }
inline float __logf(float v) { return logf(v); }
inline float __log2f(float v) { return log2f(v); }
inline float __sinf(float v) { return sinf(v); }
inline float __cosf(float v) { return cosf(v); }
inline float __tanhf(float v) { return tanhf(v); }
inline float __saturatef(float v) { return v > 0 ? v < 1 ? v : 1 : 0; }
inline float rsqrtf(float v) { return static_cast<float>(1 / std::sqrt(static_cast<double>(v))); }
inline double rsqrt(double v) { return 1 / std::sqrt(v); }

template <class T, class U>
std::common_type_t<T, U> min(T a, U b)
{
    const std::common_type_t<T, U> x = a, y = b;
    return y < x || x != x ? y : x;
}

template <class T, class U>
std::common_type_t<T, U> max(T a, U b)
{
    const std::common_type_t<T, U> x = a, y = b;
    return x < y || x != x ? y : x;
}

// --- memory ------------------------------------------------------------------------------------

template <class T> T __ldg(const T *p) { return *p; }
template <class T> T __ldcg(const T *p) { return *p; }
template <class T> T __ldcs(const T *p) { return *p; }
template <class T> void __stcg(T *p, T v) { *p = v; }
template <class T> void __stcs(T *p, T v) { *p = v; }
inline long long clock64() { static long long now; return now += 100; }

namespace cuda_on_cpu __attribute__((visibility("hidden"))) {

// Fibers change over only where they wait, so nothing comes between the load and the store. Relaxed, as on
// a GPU: ThreadSanitizer reports what others store or read there without a barrier, and no order is made.
template <class T, class F>
T updated(T *p, F change)
{
    T old;
    __atomic_load(p, &old, __ATOMIC_RELAXED);
    T next = change(old);
    __atomic_store(p, &next, __ATOMIC_RELAXED);
    return old;
}

}  // namespace cuda_on_cpu

#define CUDA_CPU_ATOMIC(NAME, RESULT) \
    template <class T> T NAME(T *p, std::common_type_t<T> b) \
    { \
        return cuda_on_cpu::updated(p, [=](T a) { return static_cast<T>(RESULT); }); \
    }
CUDA_CPU_ATOMIC(atomicAdd, a + b)
CUDA_CPU_ATOMIC(atomicSub, a - b)
CUDA_CPU_ATOMIC(atomicMin, b < a ? b : a)
CUDA_CPU_ATOMIC(atomicMax, a < b ? b : a)
CUDA_CPU_ATOMIC(atomicAnd, a & b)
CUDA_CPU_ATOMIC(atomicOr, a | b)
CUDA_CPU_ATOMIC(atomicXor, a ^ b)
CUDA_CPU_ATOMIC(atomicExch, b)

inline unsigned atomicInc(unsigned *p, unsigned last)
{
    return cuda_on_cpu::updated(p, [=](unsigned a) { return a >= last ? 0 : a + 1; });
}

template <class T>
T atomicCAS(T *p, std::common_type_t<T> expected, std::common_type_t<T> wanted)
{
    return cuda_on_cpu::updated(p, [=](T a) { return a == expected ? wanted : a; });
}
