void plain(long M, long N, const unsigned char *restrict A, signed char *restrict B)
{
    for (long i = 0; i < M * N; ++i) {
        B[2 * i] = (signed char)((A[i] & 15) - 8);
        B[2 * i + 1] = (signed char)((A[i] >> 4) - 8);
    }
}
