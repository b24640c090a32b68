size N
input min: f32[N]
output f32: f32[N]
output B: f32[N]
B[i] = 0
