# y = alpha A x + beta y0, a row of A at a time.
size   M, N
input  A: f32[M, N]
input  x: f32[N]
input  y0: f32[M]
input  alpha: f32
input  beta: f32
output y: f32[M]

y[i] = alpha * sum(k in 0 .. N: A[i, k] * x[k]) + beta * y0[i]

# A sum is 64 sums of every 64th product, held in registers: an addition need not wait for the one
# before it.
schedule rows for c, avx2, avx512, arm_dot {
    y.parallel(i)
    y_sum.compute_at(y, i)
    y_sum.update.split(k, ko, ki, 64).rfactor(ki, u).atomic().vectorize(ki)
    y_sum_u.compute_at(y_sum.update, i).store_in(registers).vectorize(u, 16).unroll(u)
    y_sum_u.update.reorder(i, ko, u).vectorize(u, 16).unroll(u)
}

example { M = 1024; N = 1024; A = random(1); x = random(2); y0 = random(3); alpha = 1.5; beta = 0.5 }
