size   M, N, K
input  A: f16[M, K]
input  B: f16[K, N]
output C: f32[M, N]
reduce k in K
acc[i, j]  = 0
acc[i, j] += f32(A[i, k]) * f32(B[k, j])
C[i, j]    = acc[i, j]
schedule s for cuda {
    C.tile(i, j, io, jo, ii, ji, 32, 16).split(ii, iw, it, 16)
    C.gpu_blocks(io, jo).gpu_threads(iw).vectorize(it).vectorize(ji)
    acc.compute_at(C, iw).store_in(wmma_accumulator).vectorize(i, 16).vectorize(j, 16)
    acc.update.split(k, ko, ki, 16).reorder(ko, i, j, ki).atomic()
    acc.update.vectorize(i, 16).vectorize(j, 16).vectorize(ki)
    A.in(acc).compute_at(acc.update, ko).store_in(shared)
}
