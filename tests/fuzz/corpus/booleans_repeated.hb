# Broke: two booleans in all lanes in turn. A load of booleans is of bytes, a vector of them a mask: gcc refused the C.
# sizes: W=19 | W=4 target: avx512 fixed: 0 seed: 2
size W
input A: bool[W + 9]
input B: f32[W]
output f: f32[W]
f[i] = select(A[i % 2], B[i], f32(0))
schedule s for avx512 {
    f.vectorize(i, 4)
}
