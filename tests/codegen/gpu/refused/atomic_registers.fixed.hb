size   M, N
input  A: f32[M, N]
output S: f32[M]

reduce k in N
sum[i]  = 0
sum[i] += A[i, k]
S[i]    = sum[i]

schedule s for cuda {
    S.split(i, io, ii, 8).gpu_blocks(io).gpu_threads(ii)
    sum.compute_at(S, io).store_in(shared).gpu_threads(i)
    sum.update.split(k, ko, ki, 4).reorder(ko, i, ki).atomic().gpu_threads(i, ki)
}
