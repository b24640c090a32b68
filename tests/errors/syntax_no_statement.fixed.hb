size N
input A: f32[N]
output B: f32[N]
hello[i] = A[i]
B[i] = A[i]
