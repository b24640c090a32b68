# ARM: dot products and matrix products of NEON registers (Arm ARM, DDI 0487, C7.2).
# Probes: the auxiliary vector's AT_HWCAP (16) and AT_HWCAP2 (26), bits as in Linux' asm/hwcap.h.
# Timing: Arm Neoverse N2 and V1 software optimization guides.

feature dotprod { machine aarch64; cpuinfo "asimddp"; flag "dotprod"; probe { leaf 16; bit 20 } }
feature i8mm    { machine aarch64; cpuinfo "i8mm";    flag "i8mm";    probe { leaf 26; bit 13 } }
feature bf16    { machine aarch64; cpuinfo "bf16";    flag "bf16";    probe { leaf 26; bit 14 } }

place neon { machine aarch64; memory registers; count 32; row_bytes 16; header "arm_neon.h"
             types { i8 "int8x16_t"; u8 "uint8x16_t"; i16 "int16x8_t"; u16 "uint16x8_t"
                     i32 "int32x4_t"; u32 "uint32x4_t"; f32 "float32x4_t"; bf16 "bfloat16x8_t" }
             constraint "w" }

target arm_dot "NEON with dot products and matrix products" uses dotprod, i8mm, bf16

# Four products into each element; the sum wraps.
instruction sdot(c: i32[4], a: i8[4, 4], b: i8[4, 4]) in neon {
    reduce q in 4
    c[l] += i32(a[l, q]) * i32(b[l, q])
}
emit "{c} = vdotq_s32({c}, {a}, {b});"
cost { latency 3; per_cycle 2 }
needs dotprod

instruction udot(c: u32[4], a: u8[4, 4], b: u8[4, 4]) in neon {
    reduce q in 4
    c[l] += u32(a[l, q]) * u32(b[l, q])
}
emit "{c} = vdotq_u32({c}, {a}, {b});"
cost { latency 3; per_cycle 2 }
needs dotprod

instruction usdot(c: i32[4], a: u8[4, 4], b: i8[4, 4]) in neon {
    reduce q in 4
    c[l] += i32(a[l, q]) * i32(b[l, q])
}
emit "{c} = vusdotq_s32({c}, {a}, {b});"
cost { latency 3; per_cycle 2 }
needs i8mm

# A 2 x 8 matrix by the transpose of another.
instruction smmla(c: i32[2, 2], a: i8[2, 8], b: i8[2, 8]) in neon {
    reduce k in 8
    c[i, j] += i32(a[i, k]) * i32(b[j, k])
}
emit "{c} = vmmlaq_s32({c}, {a}, {b});"
cost { latency 3; per_cycle 2 }
needs i8mm

instruction ummla(c: u32[2, 2], a: u8[2, 8], b: u8[2, 8]) in neon {
    reduce k in 8
    c[i, j] += u32(a[i, k]) * u32(b[j, k])
}
emit "{c} = vmmlaq_u32({c}, {a}, {b});"
cost { latency 3; per_cycle 2 }
needs i8mm

instruction usmmla(c: i32[2, 2], a: u8[2, 8], b: i8[2, 8]) in neon {
    reduce k in 8
    c[i, j] += i32(a[i, k]) * i32(b[j, k])
}
emit "{c} = vusmmlaq_s32({c}, {a}, {b});"
cost { latency 3; per_cycle 2 }
needs i8mm

# Products and sums round to odd each; the two products of a pair are added before they meet the
# accumulator (FPCR.EBF = 0: the only way of processors without FEAT_EBF16).
instruction bfdot(c: f32[4], a: bf16[4, 2], b: bf16[4, 2]) in neon {
    reduce q in 2
    c[l] += f32(a[l, q]) * f32(b[l, q])
    rounding { product rounded; mode odd; subnormals flushed; chains 1 }
}
emit "{c} = vbfdotq_f32({c}, {a}, {b});"
cost { latency 4; per_cycle 2 }
needs bf16

instruction bfmmla(c: f32[2, 2], a: bf16[2, 4], b: bf16[2, 4]) in neon {
    reduce k in 4
    c[i, j] += f32(a[i, k]) * f32(b[j, k])
    rounding { product rounded; mode odd; subnormals flushed; group 2; chains 1 }
}
emit "{c} = vbfmmlaq_f32({c}, {a}, {b});"
cost { latency 5; per_cycle 2 }
needs bf16
