size N, M
input Q: i32[N]
input A: f32[M]
output B: f32[N]
f[x] = A[clamp(x, 0, M - 1)]
bound Q in 0 .. N
B[i] = f[Q[i]]
