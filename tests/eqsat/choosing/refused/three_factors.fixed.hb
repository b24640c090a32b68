size   M, N, K
input  A: u8[M, K]
input  S: i8[K]
input  B: i8[K, N]
output C: i32[M, N]

reduce k in K
b[k, j]    = i8(S[k] * B[k, j])
acc[i, j]  = 0
acc[i, j] += i32(A[i, k]) * i32(b[k, j])
C[i, j]    = acc[i, j]

schedule tiles for amx {
    C.tile(i, j, io, jo, ii, ji, 16, 16, tail = exact).vectorize(ii).vectorize(ji)
    acc.compute_at(C, jo).store_in(amx_tile).vectorize(i).vectorize(j)
    b.compute_at(acc.update, ko)
    acc.update.split(k, ko, ki, 64, tail = exact).reorder(ko, i, j, ki)
    acc.update.atomic().vectorize(i).vectorize(j).vectorize(ki)
}
