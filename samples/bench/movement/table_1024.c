static unsigned char t[1024];

__attribute__((constructor)) static void fill(void)
{
    for (int i = 0; i < 1024; ++i)
        t[i] = (unsigned char)(i * i / 4108);
}

void plain(long M, long N, const short *restrict A, unsigned char *restrict B)
{
    for (long i = 0; i < M * N; ++i)
        B[i] = t[A[i] < 0 ? 0 : A[i] > 1023 ? 1023 : A[i]];
}
