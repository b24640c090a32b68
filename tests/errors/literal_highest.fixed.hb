size N
input A: u8[N]
output O: u8[N]
O[i] = A[i] + u8(1000)
P[i] = lowest
