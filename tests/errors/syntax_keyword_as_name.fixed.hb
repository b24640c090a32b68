size n
output B: f32[4]
B[i] = f32(n)
