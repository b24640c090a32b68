size N
input A: u8[N]
output B: u8[N]
B[i] = A[i] + u8(300)
