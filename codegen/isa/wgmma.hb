# NVIDIA's tensor cores through the PTX instruction wgmma.mma_async (PTX ISA 8.5, "Asynchronous Warpgroup Level
# Matrix Instructions"), of sm_90a alone: four warps have the sums, A and B are read from shared memory while
# the threads go on. Of an operand PTX gets a descriptor: where it begins, and how its pieces of 8 rows of 128
# bytes lie, in which units of 16 bytes change places ("Strides", "128B swizzling mode"). A and B may lie along
# either dimension; the layout is part of the meaning.
# Boxes of arrays of up to 5 dimensions and 256 elements along each come there as they are to lie by cp.async.bulk.tensor
# ("Asynchronous copy of tensors", "mbarrier"; the limits are those of cuTensorMapEncodeTiled, CUDA Driver API).
# How the sum of a product rounds is not documented; ascending multiply-adds are within its error.
# Timing: a multiprocessor's 4096 multiply-adds of f16 in two cycles ("NVIDIA H100 Tensor Core GPU Architecture").

feature wgmma { machine cuda; cpuinfo "sm_90a"; flag ""; probe { leaf 90; bit 0 } }
place wgmma {
    machine cuda
    memory wgmma_accumulator
    count 8
    rows 256
    row_bytes 1024
    lanes 128
    header ""
    shared {
        rows 8
        row_bytes 128
        unit 16
        operand "ptx_wgmma_operand({pointer}, {more}, {across}, {down})"
        fence "ptx_fence_proxy_async();"
        bulk {
            dims 5
            box 256
            align 16
            begin "ptx_signal_begin({signal}, {arrivals});"
            expect "ptx_signal_expect({signal}, {bytes});"
            copy "ptx_bulk_copy({pointer}, {map}, {signal}, {at});"
            wait "ptx_signal_wait({signal}, {turn});"
            end "ptx_signal_end({signal});"
        }
    }
    asynchronous {
        fence "ptx_wgmma_fence();"
        commit "ptx_wgmma_commit();"
        wait "ptx_wgmma_wait<{most}>();"
        hold "ptx_hold({register});"
    }
}
target wgmma "tensor cores of NVIDIA's sm_90a, by groups of four warps" uses wgmma

instruction wgmma_m64n64k16_f16_ik_jk(c: f32[64, 64], a: f16[64, 16], b: f16[64, 16]) in wgmma {
    reduce k in 16
    c[i, j] += f32(a[i, k]) * f32(b[j, k])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared a, b
}
emit "ptx_wgmma_m64n64k16_f32_f16<0, 0>({c}, {a}, {b});"
cost { latency 64; per_cycle 0.03125 }
needs wgmma

instruction wgmma_m64n64k16_f16_ik_kj(c: f32[64, 64], a: f16[64, 16], b: f16[16, 64]) in wgmma {
    reduce k in 16
    c[i, j] += f32(a[i, k]) * f32(b[k, j])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared a, b
}
emit "ptx_wgmma_m64n64k16_f32_f16<0, 1>({c}, {a}, {b});"
cost { latency 64; per_cycle 0.03125 }
needs wgmma

instruction wgmma_m64n64k16_f16_ki_jk(c: f32[64, 64], a: f16[16, 64], b: f16[64, 16]) in wgmma {
    reduce k in 16
    c[i, j] += f32(a[k, i]) * f32(b[j, k])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared a, b
}
emit "ptx_wgmma_m64n64k16_f32_f16<1, 0>({c}, {a}, {b});"
cost { latency 64; per_cycle 0.03125 }
needs wgmma

instruction wgmma_m64n64k16_f16_ki_kj(c: f32[64, 64], a: f16[16, 64], b: f16[16, 64]) in wgmma {
    reduce k in 16
    c[i, j] += f32(a[k, i]) * f32(b[k, j])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared a, b
}
emit "ptx_wgmma_m64n64k16_f32_f16<1, 1>({c}, {a}, {b});"
cost { latency 64; per_cycle 0.03125 }
needs wgmma

instruction wgmma_m64n128k16_f16_ik_jk(c: f32[64, 128], a: f16[64, 16], b: f16[128, 16]) in wgmma {
    reduce k in 16
    c[i, j] += f32(a[i, k]) * f32(b[j, k])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared a, b
}
emit "ptx_wgmma_m64n128k16_f32_f16<0, 0>({c}, {a}, {b});"
cost { latency 64; per_cycle 0.015625 }
needs wgmma

instruction wgmma_m64n128k16_f16_ik_kj(c: f32[64, 128], a: f16[64, 16], b: f16[16, 128]) in wgmma {
    reduce k in 16
    c[i, j] += f32(a[i, k]) * f32(b[k, j])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared a, b
}
emit "ptx_wgmma_m64n128k16_f32_f16<0, 1>({c}, {a}, {b});"
cost { latency 64; per_cycle 0.015625 }
needs wgmma

instruction wgmma_m64n128k16_f16_ki_jk(c: f32[64, 128], a: f16[16, 64], b: f16[128, 16]) in wgmma {
    reduce k in 16
    c[i, j] += f32(a[k, i]) * f32(b[j, k])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared a, b
}
emit "ptx_wgmma_m64n128k16_f32_f16<1, 0>({c}, {a}, {b});"
cost { latency 64; per_cycle 0.015625 }
needs wgmma

instruction wgmma_m64n128k16_f16_ki_kj(c: f32[64, 128], a: f16[16, 64], b: f16[16, 128]) in wgmma {
    reduce k in 16
    c[i, j] += f32(a[k, i]) * f32(b[k, j])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared a, b
}
emit "ptx_wgmma_m64n128k16_f32_f16<1, 1>({c}, {a}, {b});"
cost { latency 64; per_cycle 0.015625 }
needs wgmma

instruction wgmma_m64n256k16_f16_ik_jk(c: f32[64, 256], a: f16[64, 16], b: f16[256, 16]) in wgmma {
    reduce k in 16
    c[i, j] += f32(a[i, k]) * f32(b[j, k])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared a, b
}
emit "ptx_wgmma_m64n256k16_f32_f16<0, 0>({c}, {a}, {b});"
cost { latency 64; per_cycle 0.0078125 }
needs wgmma

instruction wgmma_m64n256k16_f16_ik_kj(c: f32[64, 256], a: f16[64, 16], b: f16[16, 256]) in wgmma {
    reduce k in 16
    c[i, j] += f32(a[i, k]) * f32(b[k, j])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared a, b
}
emit "ptx_wgmma_m64n256k16_f32_f16<0, 1>({c}, {a}, {b});"
cost { latency 64; per_cycle 0.0078125 }
needs wgmma

instruction wgmma_m64n256k16_f16_ki_jk(c: f32[64, 256], a: f16[16, 64], b: f16[256, 16]) in wgmma {
    reduce k in 16
    c[i, j] += f32(a[k, i]) * f32(b[j, k])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared a, b
}
emit "ptx_wgmma_m64n256k16_f32_f16<1, 0>({c}, {a}, {b});"
cost { latency 64; per_cycle 0.0078125 }
needs wgmma

instruction wgmma_m64n256k16_f16_ki_kj(c: f32[64, 256], a: f16[16, 64], b: f16[16, 256]) in wgmma {
    reduce k in 16
    c[i, j] += f32(a[k, i]) * f32(b[k, j])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared a, b
}
emit "ptx_wgmma_m64n256k16_f32_f16<1, 1>({c}, {a}, {b});"
cost { latency 64; per_cycle 0.0078125 }
needs wgmma

instruction wgmma_m64n64k16_bf16_ik_jk(c: f32[64, 64], a: bf16[64, 16], b: bf16[64, 16]) in wgmma {
    reduce k in 16
    c[i, j] += f32(a[i, k]) * f32(b[j, k])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared a, b
}
emit "ptx_wgmma_m64n64k16_f32_bf16<0, 0>({c}, {a}, {b});"
cost { latency 64; per_cycle 0.03125 }
needs wgmma

instruction wgmma_m64n64k16_bf16_ik_kj(c: f32[64, 64], a: bf16[64, 16], b: bf16[16, 64]) in wgmma {
    reduce k in 16
    c[i, j] += f32(a[i, k]) * f32(b[k, j])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared a, b
}
emit "ptx_wgmma_m64n64k16_f32_bf16<0, 1>({c}, {a}, {b});"
cost { latency 64; per_cycle 0.03125 }
needs wgmma

instruction wgmma_m64n64k16_bf16_ki_jk(c: f32[64, 64], a: bf16[16, 64], b: bf16[64, 16]) in wgmma {
    reduce k in 16
    c[i, j] += f32(a[k, i]) * f32(b[j, k])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared a, b
}
emit "ptx_wgmma_m64n64k16_f32_bf16<1, 0>({c}, {a}, {b});"
cost { latency 64; per_cycle 0.03125 }
needs wgmma

instruction wgmma_m64n64k16_bf16_ki_kj(c: f32[64, 64], a: bf16[16, 64], b: bf16[16, 64]) in wgmma {
    reduce k in 16
    c[i, j] += f32(a[k, i]) * f32(b[k, j])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared a, b
}
emit "ptx_wgmma_m64n64k16_f32_bf16<1, 1>({c}, {a}, {b});"
cost { latency 64; per_cycle 0.03125 }
needs wgmma

instruction wgmma_m64n128k16_bf16_ik_jk(c: f32[64, 128], a: bf16[64, 16], b: bf16[128, 16]) in wgmma {
    reduce k in 16
    c[i, j] += f32(a[i, k]) * f32(b[j, k])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared a, b
}
emit "ptx_wgmma_m64n128k16_f32_bf16<0, 0>({c}, {a}, {b});"
cost { latency 64; per_cycle 0.015625 }
needs wgmma

instruction wgmma_m64n128k16_bf16_ik_kj(c: f32[64, 128], a: bf16[64, 16], b: bf16[16, 128]) in wgmma {
    reduce k in 16
    c[i, j] += f32(a[i, k]) * f32(b[k, j])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared a, b
}
emit "ptx_wgmma_m64n128k16_f32_bf16<0, 1>({c}, {a}, {b});"
cost { latency 64; per_cycle 0.015625 }
needs wgmma

instruction wgmma_m64n128k16_bf16_ki_jk(c: f32[64, 128], a: bf16[16, 64], b: bf16[128, 16]) in wgmma {
    reduce k in 16
    c[i, j] += f32(a[k, i]) * f32(b[j, k])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared a, b
}
emit "ptx_wgmma_m64n128k16_f32_bf16<1, 0>({c}, {a}, {b});"
cost { latency 64; per_cycle 0.015625 }
needs wgmma

instruction wgmma_m64n128k16_bf16_ki_kj(c: f32[64, 128], a: bf16[16, 64], b: bf16[16, 128]) in wgmma {
    reduce k in 16
    c[i, j] += f32(a[k, i]) * f32(b[k, j])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared a, b
}
emit "ptx_wgmma_m64n128k16_f32_bf16<1, 1>({c}, {a}, {b});"
cost { latency 64; per_cycle 0.015625 }
needs wgmma

instruction wgmma_m64n256k16_bf16_ik_jk(c: f32[64, 256], a: bf16[64, 16], b: bf16[256, 16]) in wgmma {
    reduce k in 16
    c[i, j] += f32(a[i, k]) * f32(b[j, k])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared a, b
}
emit "ptx_wgmma_m64n256k16_f32_bf16<0, 0>({c}, {a}, {b});"
cost { latency 64; per_cycle 0.0078125 }
needs wgmma

instruction wgmma_m64n256k16_bf16_ik_kj(c: f32[64, 256], a: bf16[64, 16], b: bf16[16, 256]) in wgmma {
    reduce k in 16
    c[i, j] += f32(a[i, k]) * f32(b[k, j])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared a, b
}
emit "ptx_wgmma_m64n256k16_f32_bf16<0, 1>({c}, {a}, {b});"
cost { latency 64; per_cycle 0.0078125 }
needs wgmma

instruction wgmma_m64n256k16_bf16_ki_jk(c: f32[64, 256], a: bf16[16, 64], b: bf16[256, 16]) in wgmma {
    reduce k in 16
    c[i, j] += f32(a[k, i]) * f32(b[j, k])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared a, b
}
emit "ptx_wgmma_m64n256k16_f32_bf16<1, 0>({c}, {a}, {b});"
cost { latency 64; per_cycle 0.0078125 }
needs wgmma

instruction wgmma_m64n256k16_bf16_ki_kj(c: f32[64, 256], a: bf16[16, 64], b: bf16[16, 256]) in wgmma {
    reduce k in 16
    c[i, j] += f32(a[k, i]) * f32(b[k, j])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared a, b
}
emit "ptx_wgmma_m64n256k16_f32_bf16<1, 1>({c}, {a}, {b});"
cost { latency 64; per_cycle 0.0078125 }
needs wgmma
