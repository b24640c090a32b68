# Broke: lanes that hold fewer elements than there are lanes, again and again, and do not begin with the first of
# these: NEON loaded them from the place of the first lane instead (of A[1], A[2], A[0], A[1]: A[2], A[3], A[1], A[2]).
# sizes: W=4 | W=1 target: arm_dot fixed: 0 seed: 0
size   W
input  A: u8[W + 32]
output f: i32[W]
reduce r in 32
f[x]  = 0
f[x] += i32(A[31 - r]) * i32(A[r % 3])
schedule s for arm_dot {
    f.update.atomic().vectorize(r)
}
