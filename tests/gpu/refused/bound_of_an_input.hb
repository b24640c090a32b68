size   M, N
input  A: f32[M]
input  at: i32[N]
output S: f32[N]
bound at in 0 .. M
S[i] = A[at[i]]
schedule s for cuda {
    S.split(i, io, ii, 32).gpu_blocks(io).gpu_threads(ii)
}
