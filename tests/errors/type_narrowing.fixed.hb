size N
input A: f32[N]
output B: f16[N]
B[i] = f16(A[i])
