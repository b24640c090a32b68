size   M, N
input  A: f16[M, 64]
input  B: f16[64, N]
output C: f32[M, N]
reduce k in 64
acc[i, j]  = 0
acc[i, j] += f32(A[i, k]) * f32(B[k, j])
C[i, j]    = acc[i, j]
schedule s for cuda {
    C.tile(i, j, io, jo, ii, ji, 128, 64).split(ii, iw, iv, 64)
    C.gpu_blocks(io, jo).gpu_threads(iw).vectorize(iv).vectorize(ji)
    acc.compute_at(C, jo).store_in(wgmma_accumulator)
    acc.split(i, iw, iv, 64).gpu_threads(iw).vectorize(iv).vectorize(j)
    acc.update.split(k, ko, kv, 16).split(i, iw, iv, 64).reorder(iw, ko, iv, j, kv).gpu_threads(iw)
    acc.update.atomic().vectorize(iv).vectorize(j).vectorize(kv)
    A.in(acc).compute_at(C, jo).store_in(shared)
    B.in(acc).compute_at(C, jo).store_in(shared)
}
