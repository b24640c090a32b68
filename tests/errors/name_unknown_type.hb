size N
input A: float32[N]
output B: f32[N]
B[i] = A[i]
