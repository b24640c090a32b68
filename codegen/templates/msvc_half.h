#define _cvtsh_ss(x) _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(x)))
#define _cvtss_sh(x, rounding) \
    ((unsigned short)_mm_cvtsi128_si32(_mm_cvtps_ph(_mm_set_ss(x), rounding)))
