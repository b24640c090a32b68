param a: i32 = i32(0.5)
param b: u8 = u8(300)
param c: f32 = 1e6
param d: bool = true
output B: f32[4]
B[i] = 0
