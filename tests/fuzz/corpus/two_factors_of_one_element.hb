# Broke: factors of one element each, of two types, were packed as one.
# sizes: H=1 target: arm_dot fixed: 0 seed: 0
size H
input A: i8[1, 1]
input B: u8[1, 1]
output f0: i32[H]
reduce r1 in 32
f0[x] = i32(sum(q2 in 1 .. 5: product(q3 in 1 .. 5: i8(10))))
f0[x] += i32(zero_edge(B)[r1, 3 * x]) * i32(zero_edge(A)[3 * x, r1])
schedule s for arm_dot {
    f0.update.atomic().vectorize(r1).vectorize(x, 16, tail = guard)
}
