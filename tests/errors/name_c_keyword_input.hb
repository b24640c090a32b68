size N
input double: f32[N]
output B: f32[N]
B[i] = double[i]
