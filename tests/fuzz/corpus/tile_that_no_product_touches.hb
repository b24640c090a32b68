# Broke: a tile whose condition is false for all of it was in no tile, and read from a copy that nothing filled.
# sizes: M=16 N=48 K=1 | M=33 N=100 K=70 target: amx fixed: 0 seed: 2
size M, N, K
input A: i8[M, K]
input B: i8[K, N]
output C: i32[M, N]
reduce k in K
acc[i, j]  = 0
acc[i, j] += i32(A[i, k]) * i32(B[k, j]) where j < 20
C[i, j]    = acc[i, j]
schedule s for amx {
    C.tile(i, j, io, jo, ib, jb, 16, 48, tail = shift).reorder(io, jo, ib, jb)
    C.tile(ib, jb, it, jt, ii, ji, 16, 16).unroll(it).unroll(jt).vectorize(ii).vectorize(ji)
    acc.compute_at(C, jo).store_in(amx_tile)
    acc.tile(i, j, it, jt, ii, ji, 16, 16).unroll(it).unroll(jt).vectorize(ii).vectorize(ji)
    acc.update.split(k, ko, ki, 64).tile(i, j, it, jt, ii, ji, 16, 16)
    acc.update.reorder(ko, it, jt, ii, ji, ki).unroll(it).unroll(jt)
    acc.update.atomic().vectorize(ii).vectorize(ji).vectorize(ki)
}
