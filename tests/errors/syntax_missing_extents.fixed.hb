size N
input A: f32
output B: f32[N]
B[i] = A
