hbc 1
# Each element from its neighbours: a blur of three rows and three columns.
size   H, W
input  A: f32[H + 2, W + 2]
output B: f32[H, W]

# A stage for the rows, one for the columns of its result.
rows[y, x] = A[y, x] + A[y + 1, x] + A[y + 2, x]
B[y, x]    = (rows[y, x] + rows[y, x + 1] + rows[y, x + 2]) / 9

# Rows go to threads, 8 elements at a time.
schedule fast for avx2 {
    B.vectorize(x, 8).parallel(y)
}

# What `hbc run` and `hbc bench` use.
example { H = 500; W = 500; A = random(1) }
