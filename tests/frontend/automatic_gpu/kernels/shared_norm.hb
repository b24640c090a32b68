# Largest elements and totals of rows that two outputs share: kernels of their own.
size   B, N, L
input  X: f32[B, N, L]
output Y: f32[B, N, L]
output Z: f32[B, N, L]
reduce k in L, m in L
top[b, i]    = -inf
top[b, i]  max= X[b, i, k]
total[b, i]  = 0.0
total[b, i] += exp(X[b, i, m] - top[b, i])
Y[b, i, j]   = exp(X[b, i, j] - top[b, i]) / total[b, i]
Z[b, i, j]   = (X[b, i, j] - top[b, i]) * total[b, i]
example { B = 2; N = 21; L = 100; X = random(1) }
