import "std/math.hb"
size   N
input  A: f32[N]
output y: u8[N]
y[i]   = saturate_u8(i32(clamp(A[i], 0, 1) * 255))
example { N = 2100; A = random(1, 0, 1) }
