param a: i32 = 0.5
param b: u8 = 300
param c: f16 = 1e6
param d: bool = 2
output B: f32[4]
B[i] = 0
