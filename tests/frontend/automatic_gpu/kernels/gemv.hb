size   N, L
input  A: f32[N, L]
input  x: f32[L]
output y: f32[N]
reduce k in L
s[i]  = 0.0
s[i] += A[i, k] * x[k]
y[i]   = s[i]
example { N = 21; L = 100; A = random(1); x = random(2) }
