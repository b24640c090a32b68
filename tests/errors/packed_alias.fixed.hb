size N
input W: i8[N]
output y: i8[N] aliases W
y[i] = W[i] + 1
