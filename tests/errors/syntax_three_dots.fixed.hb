size N
input A: f32[N]
output B: f32[N]
reduce k in 0 .. N
B[i] = 0
