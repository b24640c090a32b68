size N
input A: complex64[N]
output O: f32[N]
O[x] = 1
