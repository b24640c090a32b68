size N
input x: f32[N]
output y: f32
table W: f32[] = 3
reduce r in N
y = 0
