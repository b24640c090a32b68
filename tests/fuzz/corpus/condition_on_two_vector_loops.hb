# Broke: vectors: a condition that reads two vector loops had lanes of one of them repeated too seldom.
# sizes: M=8 N=12 K=16 target: avx512 fixed: 0 seed: 0
size   M, N, K
input  A: f32[M, K]
input  B: f32[K, N]
output C: f32[M, N]
reduce k in K
C[i, j]  = 1
C[i, j] += A[i, k] * B[k, j] where (i + j) % 4 < 3
schedule tiles for avx512 {
    C.update.tile(i, j, io, jo, ii, ji, 4, 4, tail = exact).split(k, ko, ki, 8, tail = exact).reorder(io, jo, ko, ii, ji, ki)
    C.update.atomic().vectorize(ii).vectorize(ji).vectorize(ki)
}
