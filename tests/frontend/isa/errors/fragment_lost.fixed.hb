instruction mine(c: f32[16, 8], a: f16[16, 16], b: f16[16, 8]) in mma {
    reduce k in 16
    c[i, j] += f32(a[i, k]) * f32(b[k, j])
    rounding { product fused }
    fragment c[lane / 4 + element / 2 * 8, lane % 4 * 2 + element % 2]
    fragment a[lane / 4 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    fragment b[lane % 4 * 2 + element % 2 + element / 2 * 8, lane / 4]
}
emit "f({c}, {a}, {b});"
cost { latency 33; per_cycle 0.125 }
needs mma
