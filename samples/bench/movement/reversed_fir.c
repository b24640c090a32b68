void plain(long M, long N, const short *restrict A, short *restrict B)
{
    for (long y = 0; y < M; ++y) {
        const short *row = A + y * (N + 3);
        for (long i = 0; i < N; ++i)
            B[y * N + i] = row[N + 2 - i] * 3 + row[N + 1 - i] * 5 + row[N - i] * 5 + row[N - 1 - i] * 3;
    }
}
