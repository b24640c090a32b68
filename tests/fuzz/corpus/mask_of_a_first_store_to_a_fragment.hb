# Broke: the first store to a warp's fragment kept its mask: of a partial piece, elements came from memory that nobody stored.
# sizes: M=1 N=32 K=32 target: cuda fixed: 0 seed: 0
size M, N, K
input A: f16[M, K]
input B: f16[N, K]
output C: f32[M, N]
reduce k in K
acc: f32[i, j] = 0
acc[i, j] += f32(A[i, k]) * f32(B[j, k]) where i % 7 < 5
C[i, j] = acc[i, j]
schedule s for cuda {
    C.tile(i, j, io, jo, ii, ji, 16, 16)
    C.tile(ii, ji, iw, jw, iv, jv, 16, 16).gpu_blocks(io, jo).gpu_threads(iw, jw)
    C.vectorize(iv).vectorize(jv)
    acc.compute_at(C, jo).store_in(wmma_accumulator)
    acc.tile(i, j, iw, jw, iv, jv, 16, 16).gpu_threads(iw, jw).vectorize(iv).vectorize(jv)
    acc.update.split(k, ko, kv, 16).tile(i, j, iw, jw, iv, jv, 16, 16).reorder(ko, iw, jw, iv, jv, kv)
    acc.update.gpu_threads(iw, jw).atomic().vectorize(iv).vectorize(jv).vectorize(kv)
}
