size   N
input  A: f32[N]
output v: f32[N]
reduce t in 0 .. N
v[i] = 0
v[i] = v[i] + A[t] while t: v[i] < 3
