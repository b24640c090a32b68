size N
input A: f32[N]
output B: f32[1 + N]
B[i] = 1
