import "std/picture.hb"
size N
output O: f32[N]
O[i] = 1
