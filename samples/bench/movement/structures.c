#include <math.h>
void plain(long M, long N, const float *restrict A, float *restrict B)
{
    for (long i = 0; i < M * N; ++i) {
        const float *v = A + 3 * i;
        const float length = sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        for (long c = 0; c < 3; ++c)
            B[3 * i + c] = v[c] / length;
    }
}
