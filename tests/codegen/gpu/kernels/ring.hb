# A window of planes in shared memory that slides along z: who fills it wraps around in it.
size   D, H, W
input  U: f32[D, H, W]
output V: f32[D, H, W]

Z = clamp_edge(U)
s[z, y, x] = Z[z, y, x] + Z[z, y, x + 1]
V[z, y, x] = s[z - 1, y, x] + s[z, y + 1, x] + s[z + 1, y, x]

# As many elements as the block fills in several pieces.
schedule planes for cuda {
    V.tile(y, x, yo, xo, yi, xi, 4, 16).split(z, zo, zi, 4).reorder(zo, yo, xo, zi, yi, xi)
    V.gpu_blocks(zo, yo, xo).gpu_threads(yi, xi)
    s.store_at(V, xo).compute_at(V, zi).store_in(shared)
}

schedule guarded for cuda {
    V.tile(y, x, yo, xo, yi, xi, 4, 16, tail = guard).split(z, zo, zi, 4, tail = guard)
    V.reorder(zo, yo, xo, zi, yi, xi).gpu_blocks(zo, yo, xo).gpu_threads(yi, xi)
    s.store_at(V, xo).compute_at(V, zi).store_in(shared)
}
