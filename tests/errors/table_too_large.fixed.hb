output B: f32[2]
input W: f32[3000, 3000]
B[i] = W[i, 0]
