size N
input A: f32[N]
output B: f32[N]
reduce r in 2 .. 5
B[i] = 0
B[i] += A[i] where r > 2
