# Root-mean-square normalization of rows: x / sqrt(mean(x^2) + eps) * gain.
size   M, N
param  eps: f32 = 1e-6
input  X: f32[M, N]
input  gain: f32[N]
output Y: f32[M, N]

reduce k in N
scale[i] = rsqrt(sum(k: X[i, k] * X[i, k]) / f32(N) + eps)
Y[i, j]  = X[i, j] * scale[i] * gain[j]

schedule rows for c, avx2, avx512, arm_dot {
    Y.vectorize(j, 16).parallel(i)
    scale.compute_at(Y, i)
    scale_sum.compute_at(Y, i)
}

example { M = 512; N = 1024; X = random(1, -2, 2); gain = random(2) }
