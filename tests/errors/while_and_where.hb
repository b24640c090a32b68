size   N
output v: f32[N]
reduce t in 9
v[i] = 0
v[i] = v[i] + 1 where i > 3 while t: v[i] < 3
