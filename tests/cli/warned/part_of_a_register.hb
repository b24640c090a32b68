size N
input x: u8[N]
input t: u8[64]
output O: u8[N]
O[i] = t[i32(x[i]) % 64]
schedule s for avx2 {
    O.vectorize(i, 8)
}
