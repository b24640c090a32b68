size N
input x: u32[N]
output y: u32[N]
y[i] = x[i] >> 1u
