size N
input A: f32[N]
input X: f32[N]
example { N = 4; A = random(2); X = random(1) }
output B: f32[N]
B[i] = X[i]
