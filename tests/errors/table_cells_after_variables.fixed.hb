output B: f32[2]
table W: f32[2] = [1, 2]
B[i] = W[i]
