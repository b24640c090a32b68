size   N
output v: f32[N]
reduce t in 9
v[i] = 0
v[i] = select(i > 3, v[i] + 1, v[i]) while t: v[i] < 3
