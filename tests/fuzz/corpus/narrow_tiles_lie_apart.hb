# Broke: stores of narrow tiles were gathered into registers, to be moved in whole ones.
# sizes: M=32 N=32 K=32 target: amx fixed: 0 seed: 0
size M, N, K
input A: u8[K, M]
input B: u8[N, K]
output C: i32[M, N]
reduce k in K
acc: i32[i, j] = 0
acc[i, j] += i32(A[k, i]) * i32(B[j, k])
C[i, j] = acc[i, j]
schedule s for amx {
    C.tile(i, j, io, jo, ib, jb, 8, 4).reorder(io, jo, ib, jb)
    C.tile(ib, jb, it, jt, ii, ji, 8, 2).unroll(it).unroll(jt).vectorize(ii).vectorize(ji)
    acc.compute_at(C, jo).store_in(amx_tile)
    acc.tile(i, j, it, jt, ii, ji, 8, 2).unroll(it).unroll(jt).vectorize(ii).vectorize(ji)
    acc.update.split(k, ko, ki, 128).tile(i, j, it, jt, ii, ji, 8, 2)
    acc.update.reorder(ko, it, jt, ii, ji, ki).unroll(it).unroll(jt)
    acc.update.atomic().vectorize(ii).vectorize(ji).vectorize(ki)
}
