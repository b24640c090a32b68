# Broke: loops of one iteration vanished before instructions were chosen: there was no vector left.
# sizes: M=3 N=5 K=64 | M=2 N=2 K=130 target: amx fixed: 0 seed: 2
size M, N, K
input A: i8[M, K]
input B: i8[K, N]
output C: i32[M, N]
reduce k in K
acc[i, j]  = 0
acc[i, j] += i32(A[i, k]) * i32(B[k, j])
C[i, j]    = acc[i, j]
schedule s for amx {
    C.tile(i, j, io, jo, ib, jb, 2, 2).reorder(io, jo, ib, jb)
    C.tile(ib, jb, it, jt, ii, ji, 1, 1).unroll(it).unroll(jt).vectorize(ii).vectorize(ji)
    acc.compute_at(C, jo).store_in(amx_tile)
    acc.tile(i, j, it, jt, ii, ji, 1, 1).unroll(it).unroll(jt).vectorize(ii).vectorize(ji)
    acc.update.split(k, ko, ki, 64).tile(i, j, it, jt, ii, ji, 1, 1)
    acc.update.reorder(ko, it, jt, ii, ji, ki).unroll(it).unroll(jt)
    acc.update.atomic().vectorize(ii).vectorize(ji).vectorize(ki)
}
