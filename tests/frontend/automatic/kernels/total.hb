# One number of an array: its dot product with another.
size   N
input  X: f32[N]
input  Y: f32[N]
output S: f32[1]

reduce i in N
acc[u]  = 0
acc[u] += X[i] * Y[i]
S[u]    = acc[u]

example { N = 100_000; X = random(1, -1, 1); Y = random(2, -1, 1) }
