void plain(long M, long N, const float *restrict A, float *restrict B)
{
    for (long i = 0; i < N; ++i)
        for (long j = 0; j < M; ++j)
            B[i * M + j] = A[j * N + i];
}
