size   N
input  A: f32[N]
output B: f32[N]
param  g: i32 = 4 / bytes(f32)
B[i] = A[i] * f32(bytes(f32) + g)
