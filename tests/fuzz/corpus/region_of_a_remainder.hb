# Broke: of f1[x % 5] the values 0 to 4 were computed at a loop in x, of what f1 reads those for x < 3.
# sizes: W=3 target: avx512bf16 fixed: 0 seed: 0
size W
input A: f32[16, 16]
output f2: f32[3, W, 3]
reduce r in 2
f0[x, y] = A[clamp(x, 0, 9), clamp(y, 0, 2)]
f0[x, y] += A[0, r]
f1[x, y] = f0[3 * x, y]
f2[x, y, z] = f1[x % 5, z]
schedule s for avx512bf16 {
    f2.split(y, yo1, yi2, 3, tail = exact)
    f1.compute_at(f2, yi2)
}
