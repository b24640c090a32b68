size N
param a: i64 = N
output B: f32[N]
B[i] = f32(a)
