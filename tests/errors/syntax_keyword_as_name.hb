size size
output B: f32[4]
B[i] = 0
