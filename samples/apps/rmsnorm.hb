# Root-mean-square normalization of rows: x / sqrt(mean(x^2) + eps) * gain.
size   M, N
param  eps: f32 = 1e-6
input  X: f32[M, N]
input  gain: f32[N]
output Y: f32[M, N]

reduce k in N
scale[i] = rsqrt(sum(k: X[i, k] * X[i, k]) / f32(N) + eps)
Y[i, j]  = X[i, j] * scale[i] * gain[j]

# All of a row while it is in the first cache. A sum is 64 sums of every 64th element, held in
# registers: an addition need not wait for the one before it.
schedule rows for c, avx2, avx512, arm_dot {
    Y.vectorize(j, 16).parallel(i)
    scale.compute_at(Y, i)
    scale_sum.compute_at(Y, i)
    scale_sum.update.split(k, ko, ki, 64).rfactor(ki, u).atomic().vectorize(ki)
    scale_sum_u.compute_at(scale_sum.update, i).store_in(registers).vectorize(u, 16).unroll(u)
    scale_sum_u.update.reorder(i, ko, u).vectorize(u, 16).unroll(u)
}

example { M = 512; N = 1024; X = random(1, -2, 2); gain = random(2) }
