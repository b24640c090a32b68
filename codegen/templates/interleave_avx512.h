// Written by `python -m hbc.cli.sketches.pack_functions`: what `hbc synth --spec` finds.

// 4 rows of 64 elements, `apart` elements apart: 12 instructions.
static inline void interleave_4x64_u8(void *to, const void *from, int64_t apart)
{
    const uint8_t *const x0 = from;
    const uint8_t *const x1 = x0 + apart;
    const uint8_t *const x2 = x1 + apart;
    const uint8_t *const x3 = x2 + apart;
    uint8_t *const out = to;
    static const _Alignas(64) int32_t index0_table[16] =
        {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
    const __m512i index0 = _mm512_load_si512((const __m512i *)index0_table);
    const __m512i x0_0 = _mm512_loadu_si512((const __m512i *)(x0 + 0));
    const __m512i x1_0 = _mm512_loadu_si512((const __m512i *)(x1 + 0));
    const __m512i x2_0 = _mm512_loadu_si512((const __m512i *)(x2 + 0));
    const __m512i x3_0 = _mm512_loadu_si512((const __m512i *)(x3 + 0));
    const __m512i s1_0 = _mm512_permutexvar_epi32(index0, x0_0);
    const __m512i s1_1 = _mm512_permutexvar_epi32(index0, x1_0);
    const __m512i s1_2 = _mm512_permutexvar_epi32(index0, x2_0);
    const __m512i s1_3 = _mm512_permutexvar_epi32(index0, x3_0);
    const __m512i s2_0 = _mm512_unpacklo_epi8(s1_0, s1_2);
    const __m512i s2_1 = _mm512_unpacklo_epi8(s1_1, s1_3);
    const __m512i s2_2 = _mm512_unpackhi_epi8(s1_0, s1_2);
    const __m512i s2_3 = _mm512_unpackhi_epi8(s1_1, s1_3);
    const __m512i s3_0 = _mm512_unpacklo_epi8(s2_0, s2_1);
    const __m512i s3_1 = _mm512_unpackhi_epi8(s2_0, s2_1);
    const __m512i s3_2 = _mm512_unpacklo_epi8(s2_2, s2_3);
    const __m512i s3_3 = _mm512_unpackhi_epi8(s2_2, s2_3);
    _mm512_storeu_si512((__m512i *)(out + 0), s3_0);
    _mm512_storeu_si512((__m512i *)(out + 64), s3_1);
    _mm512_storeu_si512((__m512i *)(out + 128), s3_2);
    _mm512_storeu_si512((__m512i *)(out + 192), s3_3);
}
