size N
input A: f32[N / 2]
output B: f32[N]
B[i] = 0
