size   M, N, K
input  A: f32[M, K]
input  B: f32[K, N]
output C: f32[M, N]
reduce k in K
acc[i, j]  = 0
acc[i, j] += A[i, k] * B[k, j]
C[i, j]    = acc[i, j]
schedule s for cuda {
    C.tile(i, j, io, jo, ii, ji, 16, 16).gpu_blocks(io, jo).gpu_threads(ii, ji)
    acc.compute_at(C, jo).store_in(registers).gpu_threads(i, j)
    acc.update.split(k, ko, ki, 8).reorder(ko, i, j, ki).gpu_threads(i, j).pipeline(ko, 3)
    A.in(acc).compute_at(acc.update, ko).store_in(shared)
}
