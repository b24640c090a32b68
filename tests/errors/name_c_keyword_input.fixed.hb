size N
input double_: f32[N]
output B: f32[N]
B[i] = double_[i]
