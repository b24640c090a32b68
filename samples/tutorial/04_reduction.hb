# 4. Reductions: the mean and the peak of every row.
#
# `reduce x in W` makes x a variable to reduce over. A sum is a first value and an update: `sum[y] = 0`
# everywhere, then `sum[y] += I[y, x]` for every x. `max=` works alike. A program may have several
# outputs.
#
# One long sum cannot use vector lanes: each addition waits for the one before. `rfactor` makes
# sixteen partial sums and adds those at the end: first `split` x into xo and xi = 0 .. 15, then
# `rfactor(xi, u)` makes the Func `sum_u[y, u]`, which can be vectorized over u like any other. This
# changes the order of the additions, which is why it has to be asked for.

size   H, W
input  I: f32[H, W]
output mean: f32[H]
output peak: f32[H]

reduce x in W
sum[y]     = 0
sum[y]    += I[y, x]
mean[y]    = sum[y] / f32(W)
peak[y]    = -inf
peak[y] max= I[y, x]

schedule portable for c {
    sum.compute_at(mean, y)
}
schedule fast for avx512, avx2 {
    mean.parallel(y)
    sum.compute_at(mean, y)
    sum.update.split(x, xo, xi, 16).rfactor(xi, u)
    sum_u.compute_at(sum.update, y).vectorize(u)
    sum_u.update.reorder(y, xo, u).vectorize(u)
    peak.update.split(x, xo, xi, 16).rfactor(xi, u)
    peak_u.compute_root().vectorize(u)
    peak_u.update.reorder(y, xo, u).vectorize(u).parallel(y)
}

example { H = 2048; W = 2048; I = random(1, -1, 1) }
