# Broke: a condition reads both values of the step that it guards: in lanes it was tested again for the second store,
# after the first had been done.
# sizes: W=45 | W=3 target: avx512 fixed: 0 seed: 3
size W
input A: f32[W]
output n: i32[W]
output s: f32[W]
reduce t in 4
(n[x], s[x]) = (i32(0), 0.0)
(n[x], s[x]) = (n[x] + 1, s[x] * s[x] + A[x]) where n[x] == i32(t) and s[x] <= 4
schedule lanes for avx512 {
    n.update.split(x, xo, xi, 16).reorder(xo, t, xi).vectorize(xi)
}
