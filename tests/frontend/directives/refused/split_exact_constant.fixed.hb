input  I: f32[100]
output O: f32[100]
O[x] = I[x] * 2.0
schedule s for avx512 {
    O.split(x, xo, xi, 10, tail = exact)
}
