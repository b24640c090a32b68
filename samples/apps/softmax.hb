# Softmax along rows, shifted by the greatest value of each.
size   M, N
input  X: f32[M, N]
output Y: f32[M, N]

reduce k in N
top[i]  = max(k: X[i, k])
e[i, j] = exp(X[i, j] - top[i])
Y[i, j] = e[i, j] / sum(k in 0 .. N: e[i, k])

schedule rows for c, avx2, avx512, arm_dot {
    Y.vectorize(j, 16).parallel(i)
    e.compute_at(Y, i).vectorize(j, 16)
    top.compute_at(Y, i)
    Y_sum.compute_at(Y, i)
}

example { M = 512; N = 1024; X = random(1, -8, 8) }
