size N
input W: i4[N]
input g: u4
output y: u4[N]
table t: i4[3] = [1, 2, 3]
y[i] = u4(W[i] + i4(3)) + g
