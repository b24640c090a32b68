import "std/complex.hb"
size N
input  A: f32[N]
output re_: f32[N]
im_[i] = A[i]
re_[i] = im_[i]
