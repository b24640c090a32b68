size   M, N, K
input  A: f16[M, K]
input  B: f16[K, N]
output C: f32[M, N]
reduce k in K
acc[i, j]  = 0
acc[i, j] += f32(A[i, k]) * f32(B[k, j])
C[i, j]    = acc[i, j]
schedule s for cuda {
    C.tile(i, j, io, jo, ii, ji, 16, 16).gpu_blocks(io, jo).split(ii, iw, iv, 16).gpu_threads(iw)
    C.vectorize(iv).vectorize(ji)
    acc.compute_at(C, iw).store_in(wmma_accumulator).vectorize(i).vectorize(j)
    acc.update.split(k, ko, kv, 16).reorder(ko, i, j, kv)
    acc.update.atomic().vectorize(i).vectorize(j).vectorize(kv)
}
