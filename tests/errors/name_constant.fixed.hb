size n
output B: f32[n]
B[i] = 0
