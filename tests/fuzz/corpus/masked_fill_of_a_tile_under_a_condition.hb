# Broke: a tile's masked zero fill under a condition kept its mask, and went through a copy that nothing had filled beyond it.
# sizes: M=3 N=17 K=2 | M=19 N=100 K=70 target: amx fixed: 0 seed: 2
size M, N, K
input A: i8[M, K]
input B: i8[K, N]
output C: i32[M, N]
reduce k in K
acc[i, j]  = 0
acc[i, j] += i32(A[i, k]) * i32(B[k, j]) where j < 20
C[i, j]    = acc[i, j]
schedule s for amx {
    C.tile(i, j, io, jo, ib, jb, 2, 48, tail = shift).reorder(io, jo, ib, jb)
    C.tile(ib, jb, it, jt, ii, ji, 1, 16).unroll(it).unroll(jt).vectorize(ii).vectorize(ji)
    acc.compute_at(C, jo).store_in(amx_tile)
    acc.tile(i, j, it, jt, ii, ji, 1, 16).unroll(it).unroll(jt).vectorize(ii).vectorize(ji)
    acc.update.split(k, ko, ki, 64).tile(i, j, it, jt, ii, ji, 1, 16)
    acc.update.reorder(ko, it, jt, ii, ji, ki).unroll(it).unroll(jt)
    acc.update.atomic().vectorize(ii).vectorize(ji).vectorize(ki)
}
