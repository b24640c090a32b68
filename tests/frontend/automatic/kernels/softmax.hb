# Softmax of each row.
size   M, N
input  X: f32[M, N]
output Y: f32[M, N]

reduce j in N
most[i]    = -inf
most[i] max= X[i, j]
part[i, k] = exp(X[i, k] - most[i])
total[i]   = 0
total[i]  += part[i, j]
Y[i, k]    = part[i, k] / total[i]

example { M = 1024; N = 1024; X = random(1, -4, 4) }
