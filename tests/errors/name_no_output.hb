size N
input A: f32[N]
f[i] = A[i]
