# Two sums along variables of one name: the second is called `k_2` where a schedule says it.
size   M, N
input  X: f32[M, N]
output Y: f32[M, N]

reduce k in N
top[i]  = max(k: X[i, k])
Y[i, j] = exp(X[i, j] - top[i]) / sum(k in 0 .. N: exp(X[i, k] - top[i]))

example { M = 48; N = 80; X = random(1, -8, 8) }
