/* AVX-VNNI as AVX-512 VNNI of short vectors: other encodings of the same operations (SDM vol. 2C),
   which processors without AVX-VNNI execute. Its intrinsics are not used beyond this line. */
#include <immintrin.h>

#define _mm_dpbusd_avx_epi32     _mm_dpbusd_epi32
#define _mm_dpbusds_avx_epi32    _mm_dpbusds_epi32
#define _mm_dpwssd_avx_epi32     _mm_dpwssd_epi32
#define _mm_dpwssds_avx_epi32    _mm_dpwssds_epi32
#define _mm256_dpbusd_avx_epi32  _mm256_dpbusd_epi32
#define _mm256_dpbusds_avx_epi32 _mm256_dpbusds_epi32
#define _mm256_dpwssd_avx_epi32  _mm256_dpwssd_epi32
#define _mm256_dpwssds_avx_epi32 _mm256_dpwssds_epi32
