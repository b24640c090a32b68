size N
input A: f32[N]
output B: f32[N]
f[i] = ~(A[i] > 0)
B[i] = ~A[i]
