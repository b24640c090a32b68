# Softmax along rows, shifted by the greatest value of each.
size   M, N
input  X: f32[M, N]
output Y: f32[M, N]

reduce k in N
top[i]  = max(k: X[i, k])
e[i, j] = exp(X[i, j] - top[i])
Y[i, j] = e[i, j] / sum(k in 0 .. N: e[i, k])

# All of a row while it is in the first cache. Its greatest value and its sum are 64 of every 64th
# element each, held in registers: none waits for the one before it.
schedule rows for c, avx2, avx512, arm_dot {
    Y.vectorize(j, 16).parallel(i)
    e.compute_at(Y, i).vectorize(j, 16)
    top.compute_at(Y, i)
    top_max.compute_at(Y, i)
    top_max.update.split(k, ko, ki, 64).rfactor(ki, u).atomic().vectorize(ki)
    top_max_u.compute_at(top_max.update, i).store_in(registers).vectorize(u, 16).unroll(u)
    top_max_u.update.reorder(i, ko, u).vectorize(u, 16).unroll(u)
    Y_sum.compute_at(Y, i)
    Y_sum.update.split(k_2, ko, ki, 64).rfactor(ki, u).atomic().vectorize(ki)
    Y_sum_u.compute_at(Y_sum.update, i).store_in(registers).vectorize(u, 16).unroll(u)
    Y_sum_u.update.reorder(i, ko, u).vectorize(u, 16).unroll(u)
}

example { M = 512; N = 1024; X = random(1, -8, 8) }
