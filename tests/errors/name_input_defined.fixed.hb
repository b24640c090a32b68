size N
input A: f32[N]
output B: f32[N]
f[i] = 1.0
B[i] = f[i]
