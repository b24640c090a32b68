size   N, L
input  X: f32[N, L]
output Y: f32[N, L]
reduce k in L, m in L
top[i]    = -inf
top[i] max= X[i, k]
total[i]  = 0.0
total[i] += exp(X[i, m] - top[i])
Y[i, j]   = exp(X[i, j] - top[i]) / total[i]
example { N = 21; L = 100; X = random(1) }
