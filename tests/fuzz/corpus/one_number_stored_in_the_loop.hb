# Broke: a factor that is one number of an array was packed before the loop that stores it.
# sizes: W=4 target: avx512bf16 fixed: 0 seed: 0
size W
input A: f16[2 * W + 5, W + 3, 8]
input B: f16[3 * W + 7, 3 * W + 10]
input N: i32[3 * W - 2]
bound N in 0 .. W
output f3: f32[W, W, W]
PA = zero_edge(A)
reduce r1 in 2
reduce r3 in 4
f0[n, c] = (let q4 = n in (f32(inf) * f32(n)))
f0[n, c] += f32(B[c, c + 3]) * f32(B[c, r3])
f1: bf16[n, c] = (((let q2 = c in bf16(A[c + c, q2, min(c, 7)])) + (bf16(1.0) * bf16(2.0))) * bf16(f0[n, 3 * c]))
f2[n, c] = (f1[n, c] + 100.0)
f3[x, y, z] = max(tanh(f32(N[3 * x])), (f1[x + y, z + 3] * bf16(inf)))
f3[x, y, z] += f32(B[r1 + z, z]) * f32(f2[r1 / 2, y])
schedule s for avx512bf16 {
    f3.split(z, zo1, zi2, 4, tail = exact).split(zi2, zo3, zi4, 16, tail = mask)
    f3.update.atomic().vectorize(r1, 16).vectorize(z, 4).reorder(x, y, z, r1, z_v, r1_v)
    f2.compute_at(f3.update, y).store_root()
}
