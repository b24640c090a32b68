// half and bfloat16: every operation is rounded once, to nearest even, as on the device.
#pragma once

namespace cuda_on_cpu __attribute__((visibility("hidden"))) {

template <class To, class From>
To bits_as(From from)
{
    static_assert(sizeof(To) == sizeof(From), "");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

// The nearest number with `MANTISSA` bits of fraction and exponents from `LEAST` on; NaN is 0x7fff.
template <int MANTISSA, int LEAST>
uint16_t narrowed(double value)
{
    const uint64_t all = bits_as<uint64_t>(value);
    const uint16_t sign = all >> 48 & 0x8000, infinity = 0x7fff >> MANTISSA << MANTISSA;
    if (value != value)
        return 0x7fff;
    const int exponent = static_cast<int>(all >> 52 & 2047) - 1023;
    if (exponent < LEAST - MANTISSA - 1)
        return sign;
    if (exponent > 1 - LEAST)
        return sign | infinity;
    const uint64_t fraction = (all & ((1ull << 52) - 1)) | 1ull << 52;
    const int above = exponent > LEAST ? exponent - LEAST : 0;
    const int shift = 52 - MANTISSA + (exponent < LEAST ? LEAST - exponent : 0);
    const uint64_t rest = fraction & ((1ull << shift) - 1), middle = 1ull << (shift - 1);
    uint64_t kept = fraction >> shift;
    kept += rest > middle || (rest == middle && (kept & 1));
    const uint64_t bits = kept + (static_cast<uint64_t>(above) << MANTISSA);
    return sign | static_cast<uint16_t>(bits < infinity ? bits : infinity);
}

inline uint16_t to_half(double value) { return narrowed<10, -14>(value); }
inline uint16_t to_bfloat16(double value) { return narrowed<7, -126>(value); }

inline float from_half(uint16_t bits)
{
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
    const uint32_t exponent = bits >> 10 & 31, fraction = bits & 1023;
    if (exponent == 31)
        return bits_as<float>(sign | 0x7f800000 | fraction << 13);
    const float size = exponent ? bits_as<float>((exponent + 112) << 23 | fraction << 13)
                                : static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -size : size;
}

inline float from_bfloat16(uint16_t bits) { return bits_as<float>(static_cast<uint32_t>(bits) << 16); }

// a * b + c, rounded to odd, so that one more rounding to few bits is right. The product is exact.
inline double fused(double a, double b, double c)
{
    const double product = a * b, sum = product + c;
    if (!std::isfinite(sum))
        return sum;
    const double back = sum - product;
    const double error = (product - (sum - back)) + (c - back);
    uint64_t bits = bits_as<uint64_t>(sum);
    if (error != 0 && !(bits & 1))
        bits += (error > 0) == (sum > 0) ? 1 : -1;
    return bits_as<double>(bits);
}

}  // namespace cuda_on_cpu

#define CUDA_CPU_HALF(T, T2, TO, FROM) \
    struct __align__(2) T { \
        uint16_t __x; \
        T() = default; \
        T(float v) : __x(cuda_on_cpu::TO(v)) {} \
        T(double v) : __x(cuda_on_cpu::TO(v)) {} \
        T(int v) : __x(cuda_on_cpu::TO(v)) {} \
        T(unsigned v) : __x(cuda_on_cpu::TO(v)) {} \
        operator float() const { return cuda_on_cpu::FROM(__x); } \
    }; \
    struct __align__(4) T2 { T x, y; }; \
    inline double cuda_cpu_wide(T v) { return static_cast<float>(v); } \
    inline T operator+(T a, T b) { return T(cuda_cpu_wide(a) + cuda_cpu_wide(b)); } \
    inline T operator-(T a, T b) { return T(cuda_cpu_wide(a) - cuda_cpu_wide(b)); } \
    inline T operator*(T a, T b) { return T(cuda_cpu_wide(a) * cuda_cpu_wide(b)); } \
    inline T operator/(T a, T b) { return T(cuda_cpu_wide(a) / cuda_cpu_wide(b)); } \
    inline T operator-(T a) { a.__x ^= 0x8000; return a; } \
    inline T operator+(T a) { return a; } \
    inline T &operator+=(T &a, T b) { return a = a + b; } \
    inline T &operator-=(T &a, T b) { return a = a - b; } \
    inline T &operator*=(T &a, T b) { return a = a * b; } \
    inline T &operator/=(T &a, T b) { return a = a / b; } \
    inline bool operator==(T a, T b) { return float(a) == float(b); } \
    inline bool operator!=(T a, T b) { return float(a) != float(b); } \
    inline bool operator<(T a, T b) { return float(a) < float(b); } \
    inline bool operator<=(T a, T b) { return float(a) <= float(b); } \
    inline bool operator>(T a, T b) { return float(a) > float(b); } \
    inline bool operator>=(T a, T b) { return float(a) >= float(b); } \
    inline T __hadd(T a, T b) { return a + b; } \
    inline T __hsub(T a, T b) { return a - b; } \
    inline T __hmul(T a, T b) { return a * b; } \
    inline T __hdiv(T a, T b) { return a / b; } \
    inline T __hadd_rn(T a, T b) { return a + b; } \
    inline T __hsub_rn(T a, T b) { return a - b; } \
    inline T __hmul_rn(T a, T b) { return a * b; } \
    inline T __hneg(T a) { return -a; } \
    inline T __habs(T a) { a.__x &= 0x7fff; return a; } \
    inline T __hfma(T a, T b, T c) \
    { \
        return T(cuda_on_cpu::fused(cuda_cpu_wide(a), cuda_cpu_wide(b), cuda_cpu_wide(c))); \
    } \
    inline bool __hisnan(T a) { return float(a) != float(a); } \
    inline T __hmax(T a, T b) { return __hisnan(a) ? b : __hisnan(b) || a > b ? a : b; } \
    inline T __hmin(T a, T b) { return __hisnan(a) ? b : __hisnan(b) || a < b ? a : b; } \
    inline bool __heq(T a, T b) { return a == b; } \
    inline bool __hlt(T a, T b) { return a < b; } \
    inline bool __hle(T a, T b) { return a <= b; } \
    inline bool __hgt(T a, T b) { return a > b; } \
    inline bool __hge(T a, T b) { return a >= b; } \
    inline T hsqrt(T a) { return T(std::sqrt(cuda_cpu_wide(a))); } \
    inline T hexp(T a) { return T(std::exp(cuda_cpu_wide(a))); } \
    inline T hlog(T a) { return T(std::log(cuda_cpu_wide(a))); } \
    inline T2 __hadd2(T2 a, T2 b) { return {a.x + b.x, a.y + b.y}; } \
    inline T2 __hsub2(T2 a, T2 b) { return {a.x - b.x, a.y - b.y}; } \
    inline T2 __hmul2(T2 a, T2 b) { return {a.x * b.x, a.y * b.y}; } \
    inline T2 __hfma2(T2 a, T2 b, T2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; } \
    inline T2 __hmax2(T2 a, T2 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; } \
    inline T2 __hmin2(T2 a, T2 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }

CUDA_CPU_HALF(__half, __half2, to_half, from_half)
CUDA_CPU_HALF(__nv_bfloat16, __nv_bfloat162, to_bfloat16, from_bfloat16)
typedef __half half;
typedef __half2 half2;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#define CUDA_CPU_CONVERT(T, T2, WORD, WORD2) \
    inline T __float2##WORD(float v) { return T(v); } \
    inline T __float2##WORD##_rn(float v) { return T(v); } \
    inline T __double2##WORD(double v) { return T(v); } \
    inline T __int2##WORD##_rn(int v) { return T(v); } \
    inline T __uint2##WORD##_rn(unsigned v) { return T(v); } \
    inline float __##WORD##2float(T v) { return v; } \
    inline T2 __float2##WORD2##_rn(float v) { return {T(v), T(v)}; } \
    inline T2 __floats2##WORD2##_rn(float a, float b) { return {T(a), T(b)}; } \
    inline T2 __##WORD##2##WORD2(T v) { return {v, v}; } \
    inline T2 __halves2##WORD2(T a, T b) { return {a, b}; } \
    inline T __low2##WORD(T2 v) { return v.x; } \
    inline T __high2##WORD(T2 v) { return v.y; } \
    inline float __low2float(T2 v) { return v.x; } \
    inline float __high2float(T2 v) { return v.y; } \
    inline unsigned short __##WORD##_as_ushort(T v) { return v.__x; } \
    inline T __ushort_as_##WORD(unsigned short v) { return cuda_on_cpu::bits_as<T>(v); }

CUDA_CPU_CONVERT(__half, __half2, half, half2)
CUDA_CPU_CONVERT(__nv_bfloat16, __nv_bfloat162, bfloat16, bfloat162)
inline float2 __half22float2(__half2 v) { return {v.x, v.y}; }
inline __half2 __float22half2_rn(float2 v) { return {__half(v.x), __half(v.y)}; }
inline float2 __bfloat1622float2(__nv_bfloat162 v) { return {v.x, v.y}; }
inline __nv_bfloat162 __float22bfloat162_rn(float2 v)
{
    return {__nv_bfloat16(v.x), __nv_bfloat16(v.y)};
}
