size N
input A: f32[0]
output B: f32[N - N]
output D: f32[-3]
B[i] = 1
D[i] = 2
