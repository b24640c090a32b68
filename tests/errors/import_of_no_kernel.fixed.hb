import "std/image.hb"
size N
output O: f32[N]
O[x] = 1
