size   N
input  I: u8[N]
output h: i32[256]
reduce r in N
h[v]         = 0
h[i64(I[r])] += 1
schedule s for avx512 {
    h.update.rfactor(r, u)
    h_u.update.vectorize(u, 8)
}
