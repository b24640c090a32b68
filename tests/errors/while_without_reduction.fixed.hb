size   N
output v: f32[N]
reduce t in 9
v[i] = 0
v[i] = v[i] + 1 while t: v[i] < 3
