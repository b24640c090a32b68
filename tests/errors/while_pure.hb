size   N
output v: f32[N]
reduce t in 9
v[i] = 0 while t: i < 3
