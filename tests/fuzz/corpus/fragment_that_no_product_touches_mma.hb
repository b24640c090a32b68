# Broke: a fragment whose condition is false for all of it was no fragment, and stored from a copy that nothing filled.
# sizes: M=7 N=61 K=128 | M=32 N=48 K=1 target: cuda fixed: 0 seed: 3
size M, N, K
input A: f16[M, K]
input B: f16[K, N]
output C: f32[M, N]
reduce k in K
acc[i, j]  = 0
acc[i, j] += f32(A[i, k]) * f32(B[k, j]) where j < 20
C[i,j] = acc[i,j] * 2 + 1
schedule s for cuda {
    C.tile(i, j, io, jo, ib, jb, 16, 48).gpu_blocks(jo, io)
    C.tile(ib, jb, it, jt, ii, ji, 16, 16).unroll(it).unroll(jt).vectorize(ii).vectorize(ji)
    acc.compute_at(C, jo).store_in(mma_accumulator)
    acc.tile(i, j, it, jt, ii, ji, 16, 16).unroll(it).unroll(jt).vectorize(ii).vectorize(ji)
    acc.update.split(k, ko, ki, 16).tile(i, j, it, jt, ii, ji, 16, 16)
    acc.update.reorder(ko, it, jt, ii, ji, ki).unroll(it).unroll(jt)
    acc.update.atomic().vectorize(ii).vectorize(ji).vectorize(ki)
}
