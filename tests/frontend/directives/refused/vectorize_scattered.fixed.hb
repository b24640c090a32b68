size   W
input  I: i32[W]
output O: i32[16]
bound I in 0 .. 16
reduce r in W
O[b] = 0
O[I[r]] += 1
schedule s for avx512 {
    O.update.rfactor(r, u)
    O_u.update.vectorize(u, 8)
}
