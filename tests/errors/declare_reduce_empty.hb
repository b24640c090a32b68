size N
input A: f32[N]
output B: f32[N]
reduce r in 5 .. 2
B[i] = 0
B[i] += A[i] where r > 2
