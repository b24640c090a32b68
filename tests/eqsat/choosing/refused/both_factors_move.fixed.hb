size   M, N, K
input  I: bf16[M + K - 1, N]
input  F: bf16[K, N]
output C: f32[M, N]

reduce k in K
acc[i, j]  = 0
acc[i, j] += f32(I[i + k, j]) * f32(F[k, j])
C[i, j]    = acc[i, j]

schedule tiles for amx {
    C.tile(i, j, io, jo, ii, ji, 4, 16, tail = exact).unroll(ii).vectorize(ji)
    acc.compute_at(C, jo).store_in(registers).unroll(i).vectorize(j)
    acc.update.split(k, ko, ki, 32, tail = exact).reorder(ko, ki, i, j)
    acc.update.unroll(i).vectorize(j)
}
