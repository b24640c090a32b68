# What kernels do not share stands in each of them.
def twice(a) = 2 * a

kernel one {
    size   N
    input  A: f32[N]
    output B: f32[N]
    B[i] = twice(A[i])
}

kernel two {
    size   N
    input  A: f32[N]
    output B: f32[N]
    B[i] = A[i]
    schedule fast for c { B.vectorize(i, 8) }
}
