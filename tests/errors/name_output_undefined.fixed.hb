size N
input A: f32[N]
output results: f32[N]
results[i] = A[i]
