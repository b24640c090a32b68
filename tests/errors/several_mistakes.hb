size M, N
input A: f32[M, N]
input B: u8[M, N]
output C: f32[M, N]
reduce k in N
blur[y, x] = A[y, x - 1] + A[y, x] + AA[y, x]
mix[y, x] = A[y, x] * B[y, x]
C[y, x] = blr[y, x] + mix[y]
schedule s for c {
    C.vectorise(x, 8)
    blur.compute_at(C, q)
}
example { M = 4; Q = 3 }
