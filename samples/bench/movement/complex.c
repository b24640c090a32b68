void plain(long M, long N, const float *restrict A, float *restrict B)
{
    for (long i = 0; i < M * N; ++i) {
        const float re = A[2 * i], im = A[2 * i + 1];
        B[2 * i] = re * re - im * im;
        B[2 * i + 1] = re * im * 2;
    }
}
