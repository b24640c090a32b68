output B: f32[2]
table W: i32[2] = [1, i32(2.5)]
B[i] = f32(W[i])
