size pi
output B: f32[pi]
B[i] = 0
