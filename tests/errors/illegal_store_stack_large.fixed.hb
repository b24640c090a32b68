input  A: f32[4096, 4096]
output B: f32[4096, 4096]
f[i, j] = A[i, j] * 2
B[i, j] = f[j, i]
schedule s for c {
    f.compute_root().store_in(heap)
}
