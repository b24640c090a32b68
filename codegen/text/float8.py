"""The C text of conversions of floats of 8 bits, which are stored as uint8_t.

Both round to nearest, ties to even. What is beyond the range is infinite, and NaN in f8e4m3, which has no
infinities: as ml_dtypes' `float8_e5m2` and `float8_e4m3fn` have it.
"""

FLOAT8 = {
    # The upper byte of an f16.
    "f32_from_f8e5m2": """\
static inline float f32_from_f8e5m2(uint8_t x)
{
    return f32_from_f16((uint16_t)(x << 8));
}
""",
    "f32_from_f8e4m3": """\
static inline float f32_from_f8e4m3(uint8_t x)
{
    const uint32_t sign = (uint32_t)(x & 0x80) << 24, magnitude = (uint32_t)(x & 0x7f) << 20;
    if (magnitude == 0x07f00000)  // the only NaN
        return bits_f32_u32(sign | 0x7fc00000);
    if (magnitude >= 0x00800000)
        return bits_f32_u32(sign | (magnitude + 0x3c000000));
    const float subnormal = (float)(magnitude >> 20) * 0.001953125f;
    return sign ? -subnormal : subnormal;
}
""",
    "f8e5m2_from_f32": """\
static inline uint8_t f8e5m2_from_f32(float x)
{
    const uint32_t bits = bits_u32_f32(x), magnitude = bits & 0x7fffffff;
    const uint32_t sign = bits >> 24 & 0x80;
    if (magnitude > 0x7f800000)
        return (uint8_t)(sign | 0x7e);
    if (magnitude >= 0x47700000)  // 61440: infinity
        return (uint8_t)(sign | 0x7c);
    if (magnitude < 0x38800000)  // subnormal: the units of 128 + x are those of the result
        return (uint8_t)(sign | (bits_u32_f32(bits_f32_u32(magnitude) + 128.0f) - 0x43000000));
    return (uint8_t)(sign | (((magnitude + 0xfffff + (magnitude >> 21 & 1)) >> 21) - 0x1c0));
}
""",
    "f8e4m3_from_f32": """\
static inline uint8_t f8e4m3_from_f32(float x)
{
    const uint32_t bits = bits_u32_f32(x), magnitude = bits & 0x7fffffff;
    const uint32_t sign = bits >> 24 & 0x80;
    if (magnitude > 0x43e80000)  // beyond 464, and NaN: NaN
        return (uint8_t)(sign | 0x7f);
    if (magnitude < 0x3c800000)  // subnormal: the units of 16384 + x are those of the result
        return (uint8_t)(sign | (bits_u32_f32(bits_f32_u32(magnitude) + 16384.0f) - 0x46800000));
    return (uint8_t)(sign | (((magnitude + 0x7ffff + (magnitude >> 20 & 1)) >> 20) - 0x3c0));
}
""",
    **{
        f"{t}_from_f64": f"""\
static inline uint8_t {t}_from_f64(double x)
{{
    return {t}_from_f32(odd_f32_f64(x));
}}
"""
        for t in ("f8e4m3", "f8e5m2")
    },
}
