# Layer normalization of rows: (x - mean) / sqrt(variance + eps) * gain + shift.
size   M, N
param  eps: f32 = 1e-5
input  X: f32[M, N]
input  gain: f32[N]
input  shift: f32[N]
output Y: f32[M, N]

reduce k in N
mean[i]     = sum(k: X[i, k]) / f32(N)
variance[i] = sum(k: (X[i, k] - mean[i]) * (X[i, k] - mean[i])) / f32(N)
scale[i]    = rsqrt(variance[i] + eps)
Y[i, j]     = (X[i, j] - mean[i]) * scale[i] * gain[j] + shift[j]

# All of a row while it is in the first cache. A sum is 64 sums of every 64th element, held in
# registers: an addition need not wait for the one before it.
schedule rows for c, avx2, avx512, arm_dot {
    Y.vectorize(j, 16).parallel(i)
    scale.compute_at(Y, i)
    mean.compute_at(Y, i)
    mean_sum.compute_at(Y, i)
    mean_sum.update.split(k, ko, ki, 64).rfactor(ki, u).atomic().vectorize(ki)
    mean_sum_u.compute_at(mean_sum.update, i).store_in(registers).vectorize(u, 16).unroll(u)
    mean_sum_u.update.reorder(i, ko, u).vectorize(u, 16).unroll(u)
    variance_sum.compute_at(Y, i)
    variance_sum.update.split(k, ko, ki, 64).rfactor(ki, u).atomic().vectorize(ki)
    variance_sum_u.compute_at(variance_sum.update, i).store_in(registers)
    variance_sum_u.vectorize(u, 16).unroll(u)
    variance_sum_u.update.reorder(i, ko, u).vectorize(u, 16).unroll(u)
}

example { M = 512; N = 768; X = random(1, -2, 2); gain = random(2); shift = random(3) }
