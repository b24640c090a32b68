/* Arithmetic peaks of one core: twelve independent accumulators hide the latency of every multiply-
 * add known to us. Each function performs `operations` of them (a multiply and an add count two) and
 * has the form of a compiled kernel. Which of them the processor can run is the caller's business. */
#include <stdint.h>

#define TWELVE(STEP) \
    STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7) STEP(8) STEP(9) STEP(10) STEP(11)

/* Makes the compiler believe that the value is used and changed here. */
#define KEEP(value) __asm__ volatile("" : REGISTER(value))

#define DECLARE(i) a##i = start;
#define KEEP_ONE(i) KEEP(a##i);

#define PEAK(NAME, ATTRIBUTE, VECTOR, START, X, Y, STEP, PER_STEP) \
    int NAME(int64_t operations); \
    ATTRIBUTE int NAME(int64_t operations) { \
        VECTOR start = START, x = X, y = Y; \
        VECTOR a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11; \
        TWELVE(DECLARE) \
        KEEP(x); \
        KEEP(y); \
        TWELVE(KEEP_ONE) \
        for (int64_t done = 0; done < operations; done += 12 * (PER_STEP)) { \
            TWELVE(STEP) \
        } \
        TWELVE(KEEP_ONE) \
        return 0; \
    }

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f")))
#define AVX2 __attribute__((target("avx2,fma")))

#define REGISTER(value) "+v"(value)
#define STEP_F32(i) a##i = _mm512_fmadd_ps(a##i, x, y);
#define STEP_F64(i) a##i = _mm512_fmadd_pd(a##i, x, y);
PEAK(peak_f32_avx512, AVX512, __m512, _mm512_set1_ps(0.5f), _mm512_set1_ps(0.999f),
     _mm512_set1_ps(0.001f), STEP_F32, 32)
PEAK(peak_f64_avx512, AVX512, __m512d, _mm512_set1_pd(0.5), _mm512_set1_pd(0.999),
     _mm512_set1_pd(0.001), STEP_F64, 16)

/* gcc 12 moves accumulators about around its own VNNI intrinsic; clang does around asm. */
#if defined(__clang__)
#define STEP_U8S8(i) a##i = _mm512_dpbusd_epi32(a##i, x, y);
#else
#define STEP_U8S8(i) __asm__("vpdpbusd %2, %1, %0" : "+v"(a##i) : "v"(x), "v"(y));
#endif
PEAK(peak_u8s8_avx512, __attribute__((target("avx512f,avx512vnni"))), __m512i,
     _mm512_setzero_si512(), _mm512_set1_epi8(3), _mm512_set1_epi8(5), STEP_U8S8, 128)

#if defined(__clang__)
#define STEP_BF16(i) a##i = (__m512i)_mm512_dpbf16_ps((__m512)a##i, (__m512bh)x, (__m512bh)y);
#else
#define STEP_BF16(i) __asm__("vdpbf16ps %2, %1, %0" : "+v"(a##i) : "v"(x), "v"(y));
#endif
PEAK(peak_bf16_avx512, __attribute__((target("avx512f,avx512bf16"))), __m512i,
     _mm512_setzero_si512(), _mm512_set1_epi16(0x3f80), _mm512_set1_epi16(0x3c00), STEP_BF16, 64)

#undef REGISTER
#undef STEP_F32
#undef STEP_F64
#define REGISTER(value) "+x"(value)
#define STEP_F32(i) a##i = _mm256_fmadd_ps(a##i, x, y);
#define STEP_F64(i) a##i = _mm256_fmadd_pd(a##i, x, y);
PEAK(peak_f32_avx2, AVX2, __m256, _mm256_set1_ps(0.5f), _mm256_set1_ps(0.999f),
     _mm256_set1_ps(0.001f), STEP_F32, 16)
PEAK(peak_f64_avx2, AVX2, __m256d, _mm256_set1_pd(0.5), _mm256_set1_pd(0.999),
     _mm256_set1_pd(0.001), STEP_F64, 8)

#undef STEP_F32
#undef STEP_F64
#define STEP_F32(i) a##i = _mm_add_ps(_mm_mul_ps(a##i, x), y);
#define STEP_F64(i) a##i = _mm_add_pd(_mm_mul_pd(a##i, x), y);
PEAK(peak_f32, , __m128, _mm_set1_ps(0.5f), _mm_set1_ps(0.999f), _mm_set1_ps(0.001f), STEP_F32, 8)
PEAK(peak_f64, , __m128d, _mm_set1_pd(0.5), _mm_set1_pd(0.999), _mm_set1_pd(0.001), STEP_F64, 4)

#elif defined(__aarch64__)
#include <arm_neon.h>

#define REGISTER(value) "+w"(value)
#define STEP_F32(i) a##i = vfmaq_f32(y, a##i, x);
#define STEP_F64(i) a##i = vfmaq_f64(y, a##i, x);
PEAK(peak_f32, , float32x4_t, vdupq_n_f32(0.5f), vdupq_n_f32(0.999f), vdupq_n_f32(0.001f),
     STEP_F32, 8)
PEAK(peak_f64, , float64x2_t, vdupq_n_f64(0.5), vdupq_n_f64(0.999), vdupq_n_f64(0.001),
     STEP_F64, 4)

#else

#define REGISTER(value) "+m"(value)
#define STEP(i) a##i = a##i * x + y;
PEAK(peak_f32, , float, 0.5f, 0.999f, 0.001f, STEP, 2)
PEAK(peak_f64, , double, 0.5, 0.999, 0.001, STEP, 2)

#endif
