size N
input A: f32[N]
output B: f32[100]
B[i] = 1
schedule s for avx512 {
    B.bound(i, 0, 100)
}
