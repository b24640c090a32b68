# Broke: lanes of a gather of halves, one after the other, under a condition: gcc 13 saw the array's end passed.
# sizes: W=1 target: avx512bf16 fixed: 0 seed: 0
size W
input A: f16[4, W + 5, 5]
output f0: f32[4, W]
reduce r1 in 0 .. min(i + 0, 5)
f0[i, j] = f32(A[i, i, i])
f0[i, j] += sum(q2 in 0 .. 3: (let t4 = f32(A[i, (let q3 = i64(abs(A[i, j, r1]) + 0.5) in clamp(q3, 0, 4)), r1 % 3]) in ((f32(A[i, i, i]) + f32(A[i, i, i])) + t4)))

schedule auto_avx512bf16 for avx512bf16 {
    f0.vectorize(j, 16).parallel(i)
    f0.update.parallel(i)
    f0_sum.compute_at(f0.update, j).vectorize(r1_2, 4)
    f0_sum.update.split(r1_2, r1_2o, r1_2i, 4).reorder(i, j, r1_2o, q2, r1_2i)
    f0_sum.update.vectorize(r1_2i, 4).unroll(q2, 2)
}
