size   M, N, K
input  A: u8[M, K]
input  B: i8[K, N]
output C: i32[M, N]

reduce k in K
acc[i, j]  = 0
acc[i, j] += (i32(A[i, k]) - 128) * i32(B[k, j])
C[i, j]    = acc[i, j]

schedule tiles for amx {
    C.tile(i, j, io, jo, ii, ji, 16, 16, tail = exact).vectorize(ii).vectorize(ji)
    acc.compute_at(C, jo).store_in(amx_tile).vectorize(i).vectorize(j)
    acc.update.split(k, ko, ki, 64, tail = exact).reorder(ko, i, j, ki)
    acc.update.atomic().vectorize(i).vectorize(j).vectorize(ki)
}
