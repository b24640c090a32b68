// Written by `python -m hbc.cli.sketches.pack_functions`: what `hbc synth --spec` finds.

// 4 rows of 32 elements, `apart` elements apart: 12 instructions.
static inline void interleave_4x32_u8(void *to, const void *from, int64_t apart)
{
    const uint8_t *const x0 = from;
    const uint8_t *const x1 = x0 + apart;
    const uint8_t *const x2 = x1 + apart;
    const uint8_t *const x3 = x2 + apart;
    uint8_t *const out = to;
    const __m256i x0_0 = _mm256_loadu_si256((const __m256i *)(x0 + 0));
    const __m256i x1_0 = _mm256_loadu_si256((const __m256i *)(x1 + 0));
    const __m256i x2_0 = _mm256_loadu_si256((const __m256i *)(x2 + 0));
    const __m256i x3_0 = _mm256_loadu_si256((const __m256i *)(x3 + 0));
    const __m256i s1_0 = _mm256_unpacklo_epi8(x0_0, x2_0);
    const __m256i s1_1 = _mm256_unpacklo_epi8(x1_0, x3_0);
    const __m256i s1_2 = _mm256_unpackhi_epi8(x0_0, x2_0);
    const __m256i s1_3 = _mm256_unpackhi_epi8(x1_0, x3_0);
    const __m256i s2_0 = _mm256_unpacklo_epi8(s1_0, s1_1);
    const __m256i s2_1 = _mm256_unpackhi_epi8(s1_0, s1_1);
    const __m256i s2_2 = _mm256_unpacklo_epi8(s1_2, s1_3);
    const __m256i s2_3 = _mm256_unpackhi_epi8(s1_2, s1_3);
    const __m256i s3_0 = _mm256_permute2x128_si256(s2_0, s2_1, 32);
    const __m256i s3_1 = _mm256_permute2x128_si256(s2_0, s2_1, 49);
    const __m256i s3_2 = _mm256_permute2x128_si256(s2_2, s2_3, 32);
    const __m256i s3_3 = _mm256_permute2x128_si256(s2_2, s2_3, 49);
    _mm256_storeu_si256((__m256i *)(out + 0), s3_0);
    _mm256_storeu_si256((__m256i *)(out + 32), s3_2);
    _mm256_storeu_si256((__m256i *)(out + 64), s3_1);
    _mm256_storeu_si256((__m256i *)(out + 96), s3_3);
}
