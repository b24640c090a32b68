size N
input A: u8[N]
input B: f64[N]
input C: i32[N]
input W: i4[N]
input T: u8[N]
output O: f32[N]
O[x] = 1
