size   B, N, L
input  X: f16[B, N, L]
input  g: f32[L]
output Y: f16[B, N, L]
reduce k in L, m in L
s[b, i]  = 0.0
s[b, i] += f32(X[b, i, k])
mean[b, i] = s[b, i] / f32(L)
v[b, i]  = 0.0
v[b, i] += (f32(X[b, i, m]) - mean[b, i]) * (f32(X[b, i, m]) - mean[b, i])
Y[b, i, j] = f16((f32(X[b, i, j]) - mean[b, i]) / sqrt(v[b, i] / f32(L) + 0.001) * g[j])
example { B = 3; N = 21; L = 100; X = random(1); g = random(2) }
