output B: f32[100]
B[i] = 1
schedule s for avx512 {
    B.split(i, a, b, 50, tail = exact)
}
