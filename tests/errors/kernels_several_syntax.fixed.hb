# After a mistake in one, the others are read, and its own brace ends it.
kernel first {
    size   N
    input  A: f32[N]
    output B: f32[N]
    B[i] = A[i]
    schedule fast for c { B.vectorize(i, 8) }
}

kernel second {
    size   N
    output B: f32[N]
    B[i] = 1 + 2
}
