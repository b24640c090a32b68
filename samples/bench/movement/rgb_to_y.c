void plain(long M, long N, const unsigned char *restrict A, unsigned char *restrict B)
{
    for (long i = 0; i < M * N; ++i)
        B[i] = (unsigned char)((A[3 * i] * 77 + A[3 * i + 1] * 150 + A[3 * i + 2] * 29 + 128) >> 8);
}
