/* What the functions in place of vector intrinsics are made of; see codegen/build/soft_vectors.py. A kernel that
 * is compiled behind this asks the processor for none of the features that they stand for. */
#define SOFT_VECTORS 1
/* gcc looks into functions as it does not into intrinsics: lanes that a mask leaves out may have no value yet. */
#if defined __GNUC__ && !defined __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
/* gcc 12 copies a vector of 512 bits, which is passed in memory, to where a vectorized loop takes it to be aligned, and
 * does not align that: a crash for half of all stacks. */
#define SOFT static __attribute__((noinline, unused, optimize("no-tree-vectorize")))
#else
#define SOFT static __attribute__((noinline, unused))
#endif
#define SOFT_PART static inline __attribute__((unused))

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#include "amx_fused.h"

/* Element i of memory of any alignment and type. */
#define SOFT_MEMORY(name, type) \
    SOFT_PART type soft_load_##name(const void *p, int64_t i) \
    { \
        type x; \
        memcpy(&x, (const char *)p + i * (int64_t)sizeof x, sizeof x); \
        return x; \
    } \
    SOFT_PART void soft_store_##name(void *p, int64_t i, type x) \
    { \
        memcpy((char *)p + i * (int64_t)sizeof x, &x, sizeof x); \
    } \
    /* What a register holds where the manual says "undefined". */ \
    SOFT_PART type soft_anything_##name(void) \
    { \
        type x; \
        memset(&x, 0xa5, sizeof x); \
        return x; \
    }
SOFT_MEMORY(i8, int8_t)
SOFT_MEMORY(u8, uint8_t)
SOFT_MEMORY(i16, int16_t)
SOFT_MEMORY(u16, uint16_t)
SOFT_MEMORY(i32, int32_t)
SOFT_MEMORY(u32, uint32_t)
SOFT_MEMORY(i64, int64_t)
SOFT_MEMORY(u64, uint64_t)
SOFT_MEMORY(f32, float)
SOFT_MEMORY(f64, double)

#define SOFT_FLOAT(name, type, word, suffix) \
    SOFT_PART word soft_word_##name(type x) \
    { \
        word bits; \
        memcpy(&bits, &x, sizeof bits); \
        return bits; \
    } \
    SOFT_PART type soft_bits_##name(word bits) \
    { \
        type x; \
        memcpy(&x, &bits, sizeof x); \
        return x; \
    } \
    SOFT_PART type soft_sqrt_##name(type x) \
    { \
        return __builtin_sqrt##suffix(x); \
    } \
    SOFT_PART type soft_fma_##name(type x, type y, type z) \
    { \
        return __builtin_fma##suffix(x, y, z); \
    } \
    /* x * 2^floor(n); beyond 4096 is more than there are exponents. */ \
    SOFT_PART type soft_scale_##name(type x, type n) \
    { \
        if (n != n) \
            return n; \
        n = n < -4096 ? -4096 : n > 4096 ? 4096 : n; \
        return __builtin_ldexp##suffix(x, (int)__builtin_floor##suffix(n)); \
    } \
    /* To whole numbers, as bits 0 to 2 say; the upper bits, binary places to keep, are 0. */ \
    SOFT_PART type soft_round_##name(type x, unsigned how) \
    { \
        switch (how & 7) { \
        case 1: \
            return __builtin_floor##suffix(x); \
        case 2: \
            return __builtin_ceil##suffix(x); \
        case 3: \
            return __builtin_trunc##suffix(x); \
        default: \
            return __builtin_nearbyint##suffix(x); \
        } \
    }
SOFT_FLOAT(f32, float, uint32_t, f)
SOFT_FLOAT(f64, double, uint64_t, )

/* Numbers outside of the type, and NaN: the integer with the highest bit alone, or with all bits. */
#define SOFT_INTEGER(name, type, low, high, otherwise) \
    SOFT_PART type soft_truncate_##name(double x) \
    { \
        return x > low && x < high ? (type)x : otherwise; \
    } \
    SOFT_PART type soft_nearest_##name(double x) \
    { \
        return soft_truncate_##name(__builtin_nearbyint(x)); \
    }
SOFT_INTEGER(i32, int32_t, -2147483649.0, 2147483648.0, INT32_MIN)
SOFT_INTEGER(u32, uint32_t, -1.0, 4294967296.0, UINT32_MAX)
SOFT_INTEGER(u64, uint64_t, -1.0, 18446744073709551616.0, UINT64_MAX)

SOFT_PART int64_t soft_truncate_i64(double x)
{
    return x >= -9223372036854775808.0 && x < 9223372036854775808.0 ? (int64_t)x : INT64_MIN;
}

SOFT_PART int64_t soft_nearest_i64(double x)
{
    return soft_truncate_i64(__builtin_nearbyint(x));
}

SOFT_PART int32_t soft_saturate_i32(int64_t x)
{
    return x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : (int32_t)x;
}

/* float to fp16: nearest even, down, up, towards zero, or as MXCSR says. */
SOFT_PART uint16_t soft_half(float x, int how)
{
    switch (how & 7) {
    case 0:
        return _cvtss_sh(x, 0);
    case 1:
        return _cvtss_sh(x, 1);
    case 2:
        return _cvtss_sh(x, 2);
    case 3:
        return _cvtss_sh(x, 3);
    default:
        return _cvtss_sh(x, 4);
    }
}

/* The predicates of vcmpps; bit 4, whether a quiet NaN signals, changes no result. */
SOFT_PART int soft_compare(double x, double y, int how)
{
    const int unordered = x != x || y != y;
    switch (how & 15) {
    case 0:
        return x == y;
    case 1:
        return x < y;
    case 2:
        return x <= y;
    case 3:
        return unordered;
    case 4:
        return x != y;
    case 5:
        return !(x < y);
    case 6:
        return !(x <= y);
    case 7:
        return !unordered;
    case 8:
        return unordered || x == y;
    case 9:
        return !(x >= y);
    case 10:
        return !(x > y);
    case 11:
        return 0;
    case 12:
        return !unordered && x != y;
    case 13:
        return x >= y;
    case 14:
        return x > y;
    default:
        return 1;
    }
}

/* One step of vdpbf16ps. Denormal operands count as zero, denormal results become zero. */
SOFT_PART float soft_bf16_product(uint16_t x, uint16_t y, float c)
{
    const uint32_t a = amx_flush((uint32_t)x << 16), b = amx_flush((uint32_t)y << 16);
    return amx_float(amx_multiply_add(a, b, amx_flush(amx_bits(c))));
}

/* What CPUID would say of AVX-512 F, DQ, BW, VL, VBMI, VNNI, BF16 and of AVX-VNNI. */
SOFT_PART int soft_feature(unsigned leaf, unsigned subleaf, unsigned place, unsigned bit)
{
    if (leaf != 7)
        return 0;
    if (subleaf == 1)
        return place == 0 && (bit == 4 || bit == 5);
    return (place == 1 && (bit == 16 || bit == 17 || bit == 30 || bit == 31)) ||
           (place == 2 && (bit == 1 || bit == 11));
}

