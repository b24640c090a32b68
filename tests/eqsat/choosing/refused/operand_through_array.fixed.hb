size   M, N, K
input  A: bf16[M, K]
input  row: i32[M]
input  B: bf16[K, N]
output C: f32[M, N]

bound  row in 0 .. M
reduce k in K
a[i, k]    = A[row[i], k]
acc[i, j]  = 0
acc[i, j] += f32(a[i, k]) * f32(B[k, j])
C[i, j]    = acc[i, j]

schedule tiles for amx {
    C.tile(i, j, io, jo, ii, ji, 16, 16, tail = exact).vectorize(ii).vectorize(ji)
    acc.compute_at(C, jo).store_in(amx_tile).vectorize(i).vectorize(j)
    a.compute_at(acc.update, ko)
    acc.update.split(k, ko, ki, 32, tail = exact).reorder(ko, i, j, ki)
    acc.update.atomic().vectorize(i).vectorize(j).vectorize(ki)
}
