size   W
input  I: f32[W]
output O: f32[W]
O[x] = I[x] * 2.0
schedule s for avx512 {
    O.vectorize(x, 16)
}
