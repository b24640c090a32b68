output B: f32[2]
table W: f32[3000, 3000] [i, j] = 0
B[i] = W[i, 0]
