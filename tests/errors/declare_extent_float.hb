size N
input A: f32[N * 0.5]
output B: f32[N]
B[i] = 0
