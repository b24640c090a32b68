size M, N
input A: f32[M, N]
input B: u8[M, N]
output C: f32[M, N]
reduce k in N
blur[y, x] = clamp_edge(A)[y, x - 1] + A[y, x] + A[y, x]
mix[y, x] = A[y, x] * f32(B[y, x])
C[y, x] = blur[y, x] + mix[y, x]
schedule s for c {
    C.vectorize(x, 8)
    blur.compute_at(C, y)
}
example { M = 4; N = 64 }
