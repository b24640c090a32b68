# Broke: 8 in pieces of 3 has 2 full ones, and a block of 3 of these was shifted to begin at -1.
# sizes: W=4 H=8 target: c fixed: 0 seed: 5
size W, H
input  B: i32[W + 8, H]
output O: i32[W]
reduce r in 8
O[x] = 0
O[x] += B[r, 0]
schedule s for c {
    B.in(O).compute_root()
    B.in(O).split(r, ro, ri, 3).unroll(ro, 3, tail = shift)
}
