size   B, N, L
input  X: f16[B, N, L]
output Y: f32[B, N]
reduce k in L
s[b, i]  = 0.0
s[b, i] += f32(X[b, i, k])
Y[b, i]   = s[b, i] / f32(L)
example { B = 3; N = 21; L = 100; X = random(1) }
