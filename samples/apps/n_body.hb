# The acceleration of each of N bodies by all others, softened so that none comes too near.
size   N
input  position: f32[3, N]
input  mass: f32[N]
input  softening: f32
output acceleration: f32[3, N]

reduce j in N
away[c, i, k] = position[c, k] - position[c, i]
pull[i, k]    = let d2 = away[0, i, k] * away[0, i, k] + away[1, i, k] * away[1, i, k] + away[2, i, k] * away[2, i, k]
    + softening * softening in mass[k] / (d2 * sqrt(d2))
acceleration[c, i]  = 0
acceleration[c, i] += away[c, i, j] * pull[i, j]

schedule lanes for c, avx2, avx512, arm_dot {
    acceleration.vectorize(i, 16)
    acceleration.update.split(i, io, ii, 16).reorder(io, j, c, ii).parallel(io).vectorize(ii).unroll(c)
}

example { N = 2048; softening = 0.1; position = random(1, -1, 1); mass = random(2) }
