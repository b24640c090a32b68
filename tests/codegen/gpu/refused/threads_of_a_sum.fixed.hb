size   M, N
input  A: f32[M, N]
output S: f32[M]
reduce k in N
S[i] = 0
S[i] += A[i, k]
schedule s for cuda {
    S.gpu_blocks(i)
    S.update.atomic().split(k, ko, ki, 32).gpu_blocks(i).gpu_threads(ki)
}
