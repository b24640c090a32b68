/* The arithmetic of the AMX dot products, in C that gives the same bits with every compiler, option
 * and processor: it relies neither on fused multiply-add nor on the denormal modes of the hardware.
 *
 * TDPBF16PS and TDPFP16PS (Intel SDM volume 2): each row of the result has two chains of fused
 * multiply-adds from zero, one over the even, one over the odd elements of each pair; then
 * C + (even + odd). Round to nearest even; denormal results become zero, denormal bf16 and f32
 * operands count as zero, denormal fp16 operands do not; MXCSR is neither consulted nor changed. Of
 * several NaN operands the first is the result, as in scalar instructions: the manual is silent. */
#ifndef AMX_PRODUCT_H
#define AMX_PRODUCT_H

#include "amx_tiles.h"

#include "amx_fused.h"

AMX_ARITHMETIC inline uint32_t amx_from_bf16(uint16_t x)
{
    return amx_flush((uint32_t)x << 16);
}

AMX_ARITHMETIC inline uint32_t amx_from_fp16(uint16_t x)
{
    const uint32_t sign = (x & 0x8000u) << 16, exponent = x >> 10 & 31, fraction = x & 1023;
    if (exponent == 31)
        return sign | 0x7f800000 | fraction << 13 | (fraction ? 0x400000 : 0);
    if (exponent != 0)
        return sign | (exponent + 112) << 23 | fraction << 13;
    if (fraction == 0)
        return sign;
    const int shift = __builtin_clz(fraction) - 21; /* until bit 10 is set */
    return sign | (uint32_t)(113 - shift) << 23 | (fraction << shift & 1023) << 13;
}

AMX_ARITHMETIC inline uint32_t amx_add(uint32_t a, uint32_t b)
{
    return amx_multiply_add(0x3f800000, a, b);
}

/* An operand's pairs of elements as floats: [row][dword]. */
struct amx_pairs {
    float even[AMX_ROWS][AMX_LANES], odd[AMX_ROWS][AMX_LANES];
};

/* Zero, or a magnitude from 2^-56 to below 2^60. The product of two such numbers, of 11 bits each,
 * is exact in float, so that two instructions do what the fused one does; sums of 32 of them do not
 * overflow, and being multiples of 2^-126 they are never denormal. */
AMX_ARITHMETIC inline int amx_is_ordinary(uint32_t bits)
{
    const uint32_t exponent = bits >> 23 & 255;
    return (bits & 0x7fffffff) == 0 || (exponent >= 127 - 56 && exponent < 127 + 60);
}

/* Returns whether all elements are ordinary. */
AMX_ARITHMETIC int amx_widen(
    uint8_t from[AMX_ROWS][AMX_ROW_BYTES], int rows, int fp16, struct amx_pairs *to)
{
    int ordinary = 1;
    for (int row = 0; row < rows; ++row) {
        uint16_t x[2 * AMX_LANES];
        memcpy(x, from[row], sizeof x);
        for (int n = 0; n < AMX_LANES; ++n) {
            const uint32_t even = fp16 ? amx_from_fp16(x[2 * n]) : amx_from_bf16(x[2 * n]);
            const uint32_t odd = fp16 ? amx_from_fp16(x[2 * n + 1]) : amx_from_bf16(x[2 * n + 1]);
            ordinary &= amx_is_ordinary(even) & amx_is_ordinary(odd);
            to->even[row][n] = amx_float(even);
            to->odd[row][n] = amx_float(odd);
        }
    }
    return ordinary;
}

/* One element of the result. */
AMX_ARITHMETIC uint32_t amx_exact(
    const struct amx_pairs *a, const struct amx_pairs *b, int m, int n, int depth, uint32_t c)
{
    uint32_t even = 0, odd = 0;
    for (int k = 0; k < depth; ++k) {
        even = amx_multiply_add(amx_bits(a->even[m][k]), amx_bits(b->even[k][n]), even);
        odd = amx_multiply_add(amx_bits(a->odd[m][k]), amx_bits(b->odd[k][n]), odd);
    }
    return amx_add(amx_flush(c), amx_add(even, odd));
}

/* One row of even + odd, of ordinary operands. */
AMX_ARITHMETIC void amx_ordinary_row(
    const struct amx_pairs *a, const struct amx_pairs *b, int m, int depth, float sum[AMX_LANES])
{
    float even[AMX_LANES] = {0}, odd[AMX_LANES] = {0};
    for (int k = 0; k < depth; ++k)
        for (int n = 0; n < AMX_LANES; ++n) {
            even[n] += a->even[m][k] * b->even[k][n];
            odd[n] += a->odd[m][k] * b->odd[k][n];
        }
    for (int n = 0; n < AMX_LANES; ++n)
        sum[n] = even[n] + odd[n];
}

__attribute__((noinline)) AMX_ARITHMETIC void amx_float_product(
    struct amx_tiles *tiles, const struct amx_op *op)
{
    const int c = op->tile[0], a = op->tile[1], b = op->tile[2];
    const int rows = tiles->config.rows[c], columns = tiles->config.colsb[c] / 4;
    const int depth = tiles->config.rows[b], fp16 = op->kind == AMX_TDPFP16PS;
    struct amx_pairs x, y;
    const int x_ordinary = amx_widen(tiles->bytes[a], rows, fp16, &x);
    const int ordinary = amx_widen(tiles->bytes[b], depth, fp16, &y) && x_ordinary;
    for (int m = 0; m < rows; ++m) {
        uint32_t row[AMX_LANES];
        float sum[AMX_LANES];
        memcpy(row, tiles->bytes[c][m], sizeof row);
        if (ordinary)
            amx_ordinary_row(&x, &y, m, depth, sum);
        for (int n = 0; n < columns; ++n) {
            uint32_t result = 0x7fc00000;
            if (ordinary)
                result = amx_flush(amx_bits(amx_float(amx_flush(row[n])) + sum[n]));
            row[n] = amx_is_nan(result) ? amx_exact(&x, &y, m, n, depth, row[n]) : result;
        }
        memcpy(tiles->bytes[c][m], row, sizeof row);
    }
}

/* Four products of bytes for each dword, added modulo 2^32. */
AMX_ARITHMETIC void amx_int_product(
    struct amx_tiles *tiles, const struct amx_op *op, int a_signed, int b_signed)
{
    const int c = op->tile[0], a = op->tile[1], b = op->tile[2];
    const int rows = tiles->config.rows[c], depth = tiles->config.rows[b];
    int16_t y[AMX_ROWS][4][AMX_LANES];
    for (int k = 0; k < depth; ++k)
        for (int n = 0; n < AMX_LANES; ++n)
            for (int i = 0; i < 4; ++i) {
                const uint8_t byte = tiles->bytes[b][k][4 * n + i];
                y[k][i][n] = b_signed ? (int8_t)byte : byte;
            }
    for (int m = 0; m < rows; ++m) {
        uint32_t row[AMX_LANES];
        memcpy(row, tiles->bytes[c][m], sizeof row);
        for (int k = 0; k < depth; ++k)
            for (int i = 0; i < 4; ++i) {
                const uint8_t byte = tiles->bytes[a][m][4 * k + i];
                const int16_t x = a_signed ? (int8_t)byte : byte;
                for (int n = 0; n < AMX_LANES; ++n)
                    row[n] += (uint32_t)(x * y[k][i][n]);
            }
        memcpy(tiles->bytes[c][m], row, sizeof row);
    }
}

/* Any of the six products, with its rules. */
AMX_ARITHMETIC void amx_product(struct amx_tiles *tiles, const struct amx_op *op)
{
    amx_check_product(&tiles->config, op);
    if (op->kind == AMX_TDPBF16PS || op->kind == AMX_TDPFP16PS) {
#ifdef __SSE__
        const unsigned mode = __builtin_ia32_stmxcsr();
        __builtin_ia32_ldmxcsr(0x1f80); /* nearest even, nothing traps */
        amx_float_product(tiles, op);
        __builtin_ia32_ldmxcsr(mode);
#else
        amx_float_product(tiles, op);
#endif
    } else {
        const int a_signed = op->kind == AMX_TDPBSSD || op->kind == AMX_TDPBSUD;
        const int b_signed = op->kind == AMX_TDPBSSD || op->kind == AMX_TDPBUSD;
        amx_int_product(tiles, op, a_signed, b_signed);
    }
    tiles->config.start_row = 0;
}

#endif
