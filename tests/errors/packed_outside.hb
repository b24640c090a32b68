size N
input W: i4[N]
output y: i8[N]
y[i] = W[i + 1]
