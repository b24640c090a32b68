size   N
output v: f32[N]
reduce t in 9
v[i] = select(i < 3, 0, 1)
