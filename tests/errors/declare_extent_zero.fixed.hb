size N
input A: f32[1]
output B: f32[N]
output D: f32[1]
B[i] = 1
D[i] = 2
