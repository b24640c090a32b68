size N
input A: f32[N]
output O: f32[N]
import numpy as np
for i in range(N): p[i] = A[i]
def f(x): return x
q[i] = A[i].abs()
r[i] = np.exp(A[i])
O[:] = A[:]
