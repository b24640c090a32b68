output B: f32[2]
table W: f32[2] [x] = 1
B[i] = W[i]
