size N
input A: f32[N]
output O: f32[N]
reduce r in 0 .. 10
float b = 3
f[i] = 0
f[i] += A[i] where r >= 0
O[i] = f[i] * b
