output B: f32[2]
table N: f32[2] [i] = log(i + 1)
table V: f32[2] = [2, 1]
B[i] = V[i] + N[i]
