# Stages whose variable has the name of a reduction's: P[y_1, x].
def smooth(f)[y, x] = exp(f[y, x - 1]) + exp(f[y, x]) + exp(f[y, x + 1])

size N, M
input  A: f32[N, M]
output O: f32[N, M]

reduce y in N
most[x]  = lowest
most[x] max= A[y, x]

edge = clamp_edge(A)
P = smooth(edge)
Q = smooth(P)
O[i, x] = Q[i - 1, x] + Q[i, x] / (3 + most[x]) + Q[i + 1, x]

example { N = 41; M = 37; A = random(1, 0, 1) }
