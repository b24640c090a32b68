size N
input A: i4[N]
output Q: i4[N] aliases A
output R: i8[N]
output S: u4[N]
bound Q in 0 .. 4
reduce k in N
Q[i] = A[i]
R[i] = Q[i] + 1
S[i] = 0
S[i] += u8(A[k])
