# Broke: memory for a pack of fewer steps than none, which a `where` leaves of a sum in rows beyond it.
# sizes: M=32 N=13 K=12 target: amx fixed: 0 seed: 0
size M, N, K
input A: u8[M, K]
input B: u8[K, N]
output C: i32[M, N]
reduce k in K
acc: i32[i, j] = 0
acc[i, j] += i32(A[i, k]) * i32(B[k, j]) where k == i
C[i, j] = acc[i, j]
schedule s for amx {
    C.tile(i, j, io, jo, ib, jb, 12, 12).reorder(io, jo, ib, jb)
    C.tile(ib, jb, it, jt, ii, ji, 12, 12).unroll(it).unroll(jt).vectorize(ii).vectorize(ji)
    acc.compute_at(C, jo).store_in(amx_tile)
    acc.tile(i, j, it, jt, ii, ji, 12, 12).unroll(it).unroll(jt).vectorize(ii).vectorize(ji)
    acc.update.split(k, ko, ki, 12, tail = exact).tile(i, j, it, jt, ii, ji, 12, 12)
    acc.update.reorder(ko, it, jt, ki, ii, ji).unroll(it).unroll(jt)
    acc.update.atomic().vectorize(ii).vectorize(ji).vectorize(ki)
}
