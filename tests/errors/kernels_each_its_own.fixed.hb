# The mistakes of each, at their places in the file.
kernel first {
    size   N
    input A: f32[N]
    output B: f32[N]
    B[i] = A[i]
}

kernel second {
    size   N
    input  A: f32[N]
    output B: f32[N]
    B[i] = A[i]
}
