size N
input A: i4[N]
output Q: i4[N]
output R: i8[N]
output S: u4[N]
reduce k in N
q[i] = A[i]
Q[i] = q[i]
R[i] = q[i] + 1
s[i] = 0
s[i] += u8(A[k])
S[i] = s[i]
