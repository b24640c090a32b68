size N
input A: f32[N]
output result: f32[N]
results[i] = A[i]
