hbc 1
# The sum of each row.
size   M, N
input  A: f32[M, N]
output S: f32[M]

# A sum has a value to begin with and an update, done for each j.
reduce j in N
S[i]  = 0
S[i] += A[i, j]

# Rows go to threads.
schedule fast for c {
    S.update.parallel(i)
}

# What `hbc run` and `hbc bench` use.
example { M = 500; N = 1000; A = random(1, -1, 1) }
