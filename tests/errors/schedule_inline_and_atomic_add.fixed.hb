size N
input A: i32[N]
output B: i32[4]
reduce r in N
f[i] = A[i] & 3
B[i] = 0
B[f[r]] += 1
schedule s for c {
    f.compute_inline()
}
