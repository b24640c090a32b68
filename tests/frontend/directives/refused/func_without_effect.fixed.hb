size   W
input  I: f32[W]
output O: f32[W]
g[x] = I[x] + 1.0
O[x] = I[x]
schedule s for avx512 {
    O.vectorize(x, 8)
}
