kernel first {
    size   N
    output B: f32[N]
    B[i] = 1
}

kernel second {
    size   N
    output B: f32[N]
    B[i] = 1
}
