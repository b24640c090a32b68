kernel outer {
    size   N
    output B: f32[N]
    B[i] = 1
}
kernel inner { output C: f32[1]  C[i] = 2 }
