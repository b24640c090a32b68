size   M, N, K
input  A: bf16[M, K]
input  B: bf16[K, N]
output C: f32[M, N]

reduce k in K
acc[i, j]  = 0
acc[i, j] += f32(A[i, k]) * f32(B[k, 0])
C[i, j]    = acc[i, j]

schedule tiles for amx {
    C.tile(i, j, io, jo, ii, ji, 4, 16, tail = exact).unroll(ii).vectorize(ji)
    acc.compute_at(C, jo).store_in(registers).unroll(i).vectorize(j)
    acc.update.split(k, ko, ki, 32, tail = exact).reorder(ko, ki, i, j)
    acc.update.unroll(i).vectorize(j)
}
