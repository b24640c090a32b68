void plain(long M, long N, const unsigned char *restrict A, unsigned char *restrict B)
{
    for (long i = 0; i < M * N; ++i) {
        const short r = A[3 * i], g = A[3 * i + 1], b = A[3 * i + 2];
        B[i] = (unsigned char)((r * 77 + g * 150 + b * 29 + 128) >> 8);
        B[M * N + i] = (unsigned char)(((b * 127 - r * 43 - g * 84 + 128) >> 8) + 128);
        B[2 * M * N + i] = (unsigned char)(((r * 127 - g * 106 - b * 21 + 128) >> 8) + 128);
    }
}
