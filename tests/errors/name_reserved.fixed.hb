size N
input least: f32[N]
output F: f32[N]
output B: f32[N]
B[i] = 0
F[i] = least[i]
