# Broke: what had been selected was not run beside a statement whose mask reads data.
# sizes: W=1 | W=19 target: avx512bf16 fixed: 0 seed: 0
size W
input A: bf16[W + 4, W + 4]
output f1: f32[W, W, W]
reduce r1 in 4
f1[x, y, z] = f32(0)
f1[x, y, z] += f32(A[r1, y]) * f32(A[z, z]) where (A[x, r1] < bf16(x))
schedule s for avx512bf16 {
    f1.update.atomic().vectorize(r1, 4).vectorize(x, 16)
}
