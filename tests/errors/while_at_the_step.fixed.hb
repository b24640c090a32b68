size   N
input  A: f32[N]
output v: f32[N]
reduce t in 1 .. N
v[i] = A[i]
v[i] = select(A[t] > 0, v[i] / 2, v[i]) while t: v[i] > 0
