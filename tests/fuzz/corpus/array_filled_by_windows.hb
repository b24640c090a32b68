# Broke: gcc took an array for unfilled that a loop from one bound to the other fills.
# sizes: W=6 target: avxvnni fixed: 1 seed: 2
size W
input A: i8[W + 2, 2 * W + 2]
input B: i8[W, W + 1]
output f3: i32[W, W]
reduce r1 in 1 .. W + 1
reduce r2 in 3
f1: i32[n, c, w] = i32(A[n + 1, c + 2])
f3[x, y] = i32(0)
f3[x, y] ^= ((f1[x, y + r1, r1 / 2] ^ f1[x / 3, W - 1 - y, r1]) - (i32(10) & i32(B[x, y + 1]))) where ((r2 % 2 == 1) or (x + 0 <= x))
schedule s for avxvnni {
    f3.tile(x, y, ao1, bo3, ai2, bi4, 4, 1, tail = shift).tile(ao1, bo3, ao5, bo7, ai6, bi8, 1, 7).reorder(bi8, bo7, ao5, bi4, ai2, ai6).vectorize(ai6)
    f3.update.unroll(r2)
    f1.compute_at(f3.update, r2)
    f1.specialize(W % 4 == 0)
}
