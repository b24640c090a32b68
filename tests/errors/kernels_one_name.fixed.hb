kernel scale {
    size   N
    output B: f32[N]
    B[i] = 1
}

kernel scale_two {
    size   N
    output B: f32[N]
    B[i] = 2
}
