output B: f32[2]
table W: f32[2, 2] [x, y] = 0
B[i] = W[i, 0]
