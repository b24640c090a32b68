void plain(long M, long N, const unsigned char *restrict A, unsigned char *restrict B)
{
    for (long i = 0; i < M * N; ++i)
        for (long c = 0; c < 3; ++c)
            B[c * M * N + i] = A[3 * i + c];
}
