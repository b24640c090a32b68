output B: f32[4]
table W: f32[3] = [1, 2, 3]
B[i] = W[clamp(i, 0, 2)]
