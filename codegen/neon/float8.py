"""Casts between f32 and floats of 8 bits on NEON vectors of four lanes, by way of f16 and of integers.

What each line does is in `codegen/text/float8.py`.
"""

from __future__ import annotations

FUNCTIONS = {
    # An f16 whose exponent is 8 less, and of a NaN the greatest.
    "f32_from_f8e4m3x4": """\
static inline float32x4_t f32_from_f8e4m3x4(uint8x8_t x)
{
    const int16x4_t wide = vget_low_s16(vmovl_s8(vreinterpret_s8_u8(x)));
    const uint16x4_t bits = vreinterpret_u16_s16(vshl_n_s16(wide, 7));
    const uint16x4_t half = vand_u16(bits, vdup_n_u16(0xbf80)), most = vdup_n_u16(0x3f80);
    const uint16x4_t nan = vceq_u16(vand_u16(half, most), most);
    const uint16x4_t marked = vorr_u16(half, vand_u16(nan, vdup_n_u16(0x4000)));
    return vmulq_n_f32(vcvt_f32_f16(vreinterpret_f16_u16(marked)), 256.0f);
}
""",
    "f32_from_f8e5m2x4": """\
static inline float32x4_t f32_from_f8e5m2x4(uint8x8_t x)
{
    return vcvt_f32_f16(vreinterpret_f16_u8(vzip1_u8(vdup_n_u8(0), x)));
}
""",
    "f8e4m3_from_f32x4": """\
static inline uint8x8_t f8e4m3_from_f32x4(float32x4_t x)
{
    const uint32x4_t bits = vreinterpretq_u32_f32(x);
    const uint32x4_t sign = vandq_u32(vshrq_n_u32(bits, 24), vdupq_n_u32(0x80));
    // 480 has the bits of NaN.
    const uint32x4_t size = vminq_u32(vandq_u32(bits, vdupq_n_u32(0x7fffffff)),
        vdupq_n_u32(0x43f00000));
    const uint32x4_t odd = vandq_u32(vshrq_n_u32(size, 20), vdupq_n_u32(1));
    const uint32x4_t near = vaddq_u32(size, vaddq_u32(odd, vdupq_n_u32(0x7ffff)));
    const uint32x4_t normal = vsubq_u32(vshrq_n_u32(near, 20), vdupq_n_u32(0x3c0));
    const float32x4_t units = vaddq_f32(vreinterpretq_f32_u32(size), vdupq_n_f32(16384.0f));
    const uint32x4_t subnormal = vsubq_u32(vreinterpretq_u32_f32(units), vdupq_n_u32(0x46800000));
    const uint32x4_t below = vcltq_u32(size, vdupq_n_u32(0x3c800000));
    const uint16x4_t code = vmovn_u32(vorrq_u32(sign, vbslq_u32(below, subnormal, normal)));
    return vmovn_u16(vcombine_u16(code, code));
}
""",
    "f8e5m2_from_f32x4": """\
static inline uint8x8_t f8e5m2_from_f32x4(float32x4_t x)
{
    const uint32x4_t bits = vreinterpretq_u32_f32(x);
    const uint32x4_t sign = vandq_u32(vshrq_n_u32(bits, 24), vdupq_n_u32(0x80));
    const uint32x4_t whole = vandq_u32(bits, vdupq_n_u32(0x7fffffff));
    const uint32x4_t size = vminq_u32(whole, vdupq_n_u32(0x47800000));  // infinity
    const uint32x4_t odd = vandq_u32(vshrq_n_u32(size, 21), vdupq_n_u32(1));
    const uint32x4_t near = vaddq_u32(size, vaddq_u32(odd, vdupq_n_u32(0xfffff)));
    const uint32x4_t normal = vsubq_u32(vshrq_n_u32(near, 21), vdupq_n_u32(0x1c0));
    const float32x4_t units = vaddq_f32(vreinterpretq_f32_u32(size), vdupq_n_f32(128.0f));
    const uint32x4_t subnormal = vsubq_u32(vreinterpretq_u32_f32(units), vdupq_n_u32(0x43000000));
    const uint32x4_t below = vcltq_u32(size, vdupq_n_u32(0x38800000));
    const uint32x4_t nan = vandq_u32(vcgtq_u32(whole, vdupq_n_u32(0x7f800000)), vdupq_n_u32(2));
    const uint32x4_t number = vorrq_u32(sign, vbslq_u32(below, subnormal, normal));
    const uint16x4_t code = vmovn_u32(vorrq_u32(number, nan));
    return vmovn_u16(vcombine_u16(code, code));
}
""",
}
