# Broke: the range of a Func that is an element at constant coordinates was that element: an Access
# after lowering, where the Func is an index.
# sizes: W=1 | W=4 target: avx2 fixed: 0 seed: 0
size W
input A: i32[W + 2]
output f2: i32[W]
f0[x] = A[x] + 1
f1[x] = min(A[1], 9)
f2[x] = f0[clamp(i64(f1[x]), 0, W - 1)]
schedule s for avx2 {
    f0.compute_root()
    f1.compute_root()
}
