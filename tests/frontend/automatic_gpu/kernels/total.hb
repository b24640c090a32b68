size   N, M
input  X: f32[N, M]
output S: f32[N]

reduce k in M
acc[i]  = 1
acc[i] += X[i, k]
S[i]    = acc[i] / 2

example { N = 3; M = 5000; X = random(1, -1, 1) }
