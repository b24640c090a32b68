size N
input A: f32[N]
output O: f32[N]
reduce t in 1 .. N
z: f32[x] = 0
z[t] = select(z[t - 1] > 0, A[t - 1], 2.0) + A[t]
O[x] = z[x]
