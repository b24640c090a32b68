size   N
input  A: f32[N]
output v: f32[N]
reduce t in 1 .. N
v[i] = A[i]
v[t] = v[t - 1] / 2 while t: A[0] > 0
