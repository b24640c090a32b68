feature later { machine cuda; cpuinfo "sm_90a"; flag ""; probe { leaf 90; bit 0 } }
place group {
    machine cuda; memory wgmma_accumulator; count 8; rows 64; row_bytes 256; lanes 128; header ""
    shared { rows 8; row_bytes 128; unit 16; operand "operand({pointer}, {more}, {across}, {down})"; fence "fence();" }
}
instruction product(c: f32[64, 64], a: f16[64, 16], b: f16[64, 16]) in group {
    reduce k in 16
    c[i, j] += f32(a[i, k]) * f32(b[j, k])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared a, b
}
emit "product({c}, {a}, {b});"
cost { latency 64; per_cycle 0.03 }
needs later
