size   M, N
input  A: bf16[M, N]
output C: f32[M, N]

acc[i, j]  = f32(A[i, j])
C[i, j]    = acc[i, j]

schedule tiles for amx {
    C.tile(i, j, io, jo, ii, ji, 16, 16, tail = exact).vectorize(ii).vectorize(ji)
    acc.compute_at(C, jo).store_in(amx_tile).vectorize(i).vectorize(j)
}
