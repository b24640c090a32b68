/* a * b + c of floats rounded once, to nearest even, as the AMX and AVX-512 BF16 instructions round, in C
 * that gives the same bits with every compiler, option and processor. */
#ifndef AMX_FUSED_H
#define AMX_FUSED_H

#include <stdint.h>
#include <string.h>

#ifdef __FAST_MATH__
#error "the AMX emulation needs exact arithmetic: compile it without -ffast-math"
#endif

/* Functions of numbers and tiles only: sanitizers need not watch them. */
#define AMX_ARITHMETIC __attribute__((no_sanitize("address", "undefined"), unused)) static

AMX_ARITHMETIC inline uint32_t amx_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

AMX_ARITHMETIC inline float amx_float(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

AMX_ARITHMETIC inline int amx_is_nan(uint32_t bits)
{
    return (bits & 0x7fffffff) > 0x7f800000;
}

/* A denormal number as zero of its sign. */
AMX_ARITHMETIC inline uint32_t amx_flush(uint32_t bits)
{
    return bits & 0x7f800000 ? bits : bits & 0x80000000;
}

/* A finite sum rounded to float. Each operand has at most 24 significant bits, and an exact product
 * of two fp16 numbers has 22; where their sum does not fit into a double, one is less than 2^-28 of
 * the other and changes neither rounding: the two give what one would. Tininess is detected after
 * rounding. */
AMX_ARITHMETIC uint32_t amx_round_sum(double p, double c)
{
    const double sum = p + c;
    const double least = 0x1.ffffffp-127; /* from here on up, 24 bits round to a normal number */
    if (sum < least && sum > -least) {
        uint64_t bits;
        memcpy(&bits, &sum, sizeof bits);
        return (uint32_t)(bits >> 32) & 0x80000000;
    }
    return amx_bits((float)sum);
}

/* a * b + c rounded once. No operand is denormal. */
AMX_ARITHMETIC uint32_t amx_multiply_add(uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t infinity = 0x7f800000, quiet = 0x400000, indefinite = 0xffc00000;
    if (amx_is_nan(a))
        return a | quiet;
    if (amx_is_nan(b))
        return b | quiet;
    if (amx_is_nan(c))
        return c | quiet;
    const uint32_t sign = (a ^ b) & 0x80000000, x = a & 0x7fffffff, y = b & 0x7fffffff;
    const int infinite = x == infinity || y == infinity, c_infinite = (c & 0x7fffffff) == infinity;
    if (infinite && (x == 0 || y == 0 || (c_infinite && c != (sign | infinity))))
        return indefinite;
    if (infinite)
        return sign | infinity;
    if (c_infinite)
        return c;
    return amx_round_sum((double)amx_float(a) * amx_float(b), amx_float(c));
}

#endif
