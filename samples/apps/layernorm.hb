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

schedule rows for c, avx2, avx512, arm_dot {
    Y.vectorize(j, 16).parallel(i)
    scale.compute_at(Y, i)
    mean.compute_at(Y, i)
    mean_sum.compute_at(Y, i)
    variance_sum.compute_at(Y, i)
}

example { M = 512; N = 768; X = random(1, -2, 2); gain = random(2); shift = random(3) }
