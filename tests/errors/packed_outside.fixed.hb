size N
input W: i4[N]
output y: i8[N]
y[i] = clamp_edge(W)[i + 1]
