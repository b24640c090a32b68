# Broke: selection: under a condition beside the tail of the sum, tiles of one row.
# sizes: M=32 N=7 K=48 target: amx fixed: 0 seed: 10
size M, N, K
input A: i8[K, M]
input B: u8[K, N]
output C: i32[M, N]
reduce k in K
acc: i32[i, j] = 2
acc[i, j] += i32(B[k, j]) * i32(A[k, i]) where i % 7 < 5
C[i, j] = max(acc[i, j], 0)
schedule s for amx {
    C.tile(i, j, io, jo, ib, jb, 10, 16).reorder(io, jo, ib, jb)
    C.tile(ib, jb, it, jt, ii, ji, 5, 16).unroll(it).unroll(jt).vectorize(ii).vectorize(ji)
    acc.compute_at(C, jo).store_in(amx_tile)
    acc.tile(i, j, it, jt, ii, ji, 5, 16).unroll(it).unroll(jt).vectorize(ii).vectorize(ji)
    acc.update.split(k, ko, ki, 128).tile(i, j, it, jt, ii, ji, 5, 16)
    acc.update.reorder(ko, it, jt, ji, ki, ii).unroll(it).unroll(jt)
    acc.update.atomic().vectorize(ii).vectorize(ji).vectorize(ki)
}
