# Broke: selection: a condition on rows and columns, and tails beside it, were many tiles of one row; lanes never stored were read.
# sizes: M=33 N=64 K=32 target: amx fixed: 0 seed: 2
size M, N, K
input A: u8[M, K]
input B: i8[N, K]
output C: i32[M, N]
reduce k in K
acc: i32[i, j] = 0
acc[i, j] += i32(B[j, k]) * i32(A[i, k]) where i < M - 1 and j > 0
C[i, j] = acc[i, j]
schedule s for amx {
    C.tile(i, j, io, jo, ib, jb, 16, 24).reorder(io, jo, ib, jb)
    C.tile(ib, jb, it, jt, ii, ji, 16, 12).unroll(it).unroll(jt).vectorize(ii).vectorize(ji)
    acc.compute_at(C, jo).store_in(amx_tile)
    acc.tile(i, j, it, jt, ii, ji, 16, 12).unroll(it).unroll(jt).vectorize(ii).vectorize(ji)
    acc.update.split(k, ko, ki, 32, tail = exact).tile(i, j, it, jt, ii, ji, 16, 12)
    acc.update.reorder(ko, it, jt, ki, ii, ji).unroll(it).unroll(jt)
    acc.update.atomic().vectorize(ii).vectorize(ji).vectorize(ki)
}
