place p { machine x86_64; memory registers; count 32; row_bytes 64; header "x.h"; types { int "__m512i" } }
instruction dot(c: i32[16], a: u8[16, 4], b: i8[16, 4]) in p {
    reduce q in 4
    c[l] += i32(a[l, q]) * i32(b[l, q])
}
emit "{c} = _mm512_dpbusd_epi32({c}, {a}, {b});"
cost { latency 4; per_cycle 1 }
needs avx512vnni
feature f { machine x86_64; cpuinfo "avx2"; flag "-mavx2"; probe { leaf 7; register eax; bit 5 } }
