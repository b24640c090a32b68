size N
param a: i64 = 64
output B: f32[N]
B[i] = f32(a)
