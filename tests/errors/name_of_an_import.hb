import "std/complex.hb"
size N
input  A: f32[N]
output re: f32[N]
im[i] = A[i]
re[i] = im[i]
