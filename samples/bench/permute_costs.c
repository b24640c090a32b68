// Measures what the instructions cost that move data between the lanes of vector registers: core cycles
// for one of many independent ones (what synth/results/costs/ holds), and for one of a chain.
//
// A cycle is what a dependent 64-bit addition takes, measured beside every instruction, so that neither
// the clock's frequency nor its changes matter. The least of many short runs is taken.
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define REPEAT 400   // times the loop body
#define ROUNDS 400   // runs, of which the fastest counts

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double cycle(void) {  // seconds of one dependent addition
    double best = 1e9;
    for (int round = 0; round < 20; round++) {
        uint64_t x = 1;
        double began = now();
        for (int i = 0; i < REPEAT; i++)
            __asm__ volatile(".rept 32\n\tadd $1, %0\n\t.endr" : "+r"(x));
        double took = (now() - began) / (REPEAT * 32.0);
        if (took < best) best = took;
    }
    return best;
}

// TEXT has %0 for the register that is written and read, z30 and z31 for further operands, k1 a mask.
// `+x` keeps each in a register of its own; chains of eight hide a latency of up to eight.
#define MEASURE_AS(ONE, NAME, PATTERN, BITS, TEXT)                                                   \
    do {                                                                                             \
        __m512i a = zero, b = zero, c = zero, d = zero, e = zero, f = zero, g = zero, h = zero;      \
        double apart = 1e9, chained = 1e9;                                                           \
        for (int round = 0; round < ROUNDS; round++) {                                               \
            double began = now();                                                                    \
            for (int i = 0; i < REPEAT; i++)                                                         \
                __asm__ volatile(ONE(0, TEXT) ONE(1, TEXT) ONE(2, TEXT) ONE(3, TEXT) ONE(4, TEXT)    \
                                 ONE(5, TEXT) ONE(6, TEXT) ONE(7, TEXT)                              \
                                 : "+x"(a), "+x"(b), "+x"(c), "+x"(d), "+x"(e), "+x"(f), "+x"(g),    \
                                   "+x"(h) : : "xmm14", "xmm15", "xmm30", "xmm31", "k1");            \
            double took = (now() - began) / (REPEAT * 8.0);                                          \
            if (took < apart) apart = took;                                                          \
            began = now();                                                                           \
            for (int i = 0; i < REPEAT; i++)                                                         \
                __asm__ volatile(ONE(0, TEXT) ONE(0, TEXT) ONE(0, TEXT) ONE(0, TEXT)                 \
                                 ONE(0, TEXT) ONE(0, TEXT) ONE(0, TEXT) ONE(0, TEXT)                 \
                                 : "+x"(a) : : "xmm14", "xmm15", "xmm30", "xmm31", "k1");            \
            took = (now() - began) / (REPEAT * 8.0);                                                 \
            if (took < chained) chained = took;                                                      \
        }                                                                                            \
        double unit = cycle();                                                                       \
        printf("%-14s %-12s %-13s %5.2f %7.2f\n", NAME, PATTERN, BITS, apart / unit,                 \
               chained / unit);                                                                      \
    } while (0)
#define WHOLE(NUMBER, TEXT) TEXT("%" #NUMBER)
#define HALF(NUMBER, TEXT) TEXT("%t" #NUMBER)
#define MEASURE(NAME, PATTERN, BITS, TEXT) MEASURE_AS(WHOLE, NAME, PATTERN, BITS, TEXT)
#define MEASURE_HALF(NAME, PATTERN, BITS, TEXT) MEASURE_AS(HALF, NAME, PATTERN, BITS, TEXT)

#define VPERMD(R) "vpermd " R ", %%zmm31, " R "\n\t"
#define VPERMW(R) "vpermw " R ", %%zmm31, " R "\n\t"
#define VPERMB(R) "vpermb " R ", %%zmm31, " R "\n\t"
#define VPERMQ(R) "vpermq $0x39, " R ", " R "\n\t"
#define VPERMT2D(R) "vpermt2d %%zmm30, %%zmm31, " R "\n\t"
#define VPERMT2W(R) "vpermt2w %%zmm30, %%zmm31, " R "\n\t"
#define VPERMT2B(R) "vpermt2b %%zmm30, %%zmm31, " R "\n\t"
#define VALIGND(R) "valignd $3, %%zmm30, " R ", " R "\n\t"
#define VALIGNQ(R) "valignq $3, %%zmm30, " R ", " R "\n\t"
#define VPALIGNR(R) "vpalignr $4, %%zmm30, " R ", " R "\n\t"
#define VPUNPCKLDQ(R) "vpunpckldq %%zmm30, " R ", " R "\n\t"
#define VPSHUFD(R) "vpshufd $0x39, " R ", " R "\n\t"
#define VPSHUFB(R) "vpshufb %%zmm31, " R ", " R "\n\t"
#define VSHUFPS(R) "vshufps $0x39, %%zmm30, " R ", " R "\n\t"
#define VSHUFI32X4(R) "vshufi32x4 $0x39, %%zmm30, " R ", " R "\n\t"
#define VPBLENDMD(R) "vpblendmd %%zmm30, " R ", " R "%{%%k1%}\n\t"
#define VPBLENDMB(R) "vpblendmb %%zmm30, " R ", " R "%{%%k1%}\n\t"
#define VMOVDQA32Z(R) "vmovdqa32 " R ", " R "%{%%k1%}%{z%}\n\t"
#define VMOVDQU8Z(R) "vmovdqu8 " R ", " R "%{%%k1%}%{z%}\n\t"
// AVX2: registers of 256 bits, operands among the first sixteen.
#define Y_VPERMD(R) "vpermd " R ", %%ymm15, " R "\n\t"
#define Y_VPERMQ(R) "vpermq $0x39, " R ", " R "\n\t"
#define Y_VPERM2I128(R) "vperm2i128 $0x21, %%ymm14, " R ", " R "\n\t"
#define Y_VPALIGNR(R) "vpalignr $4, %%ymm14, " R ", " R "\n\t"
#define Y_VPUNPCKLDQ(R) "vpunpckldq %%ymm14, " R ", " R "\n\t"
#define Y_VPSHUFD(R) "vpshufd $0x39, " R ", " R "\n\t"
#define Y_VPSHUFB(R) "vpshufb %%ymm15, " R ", " R "\n\t"
#define Y_VSHUFPS(R) "vshufps $0x39, %%ymm14, " R ", " R "\n\t"
#define Y_VPBLENDD(R) "vpblendd $0x5a, %%ymm14, " R ", " R "\n\t"
#define Y_VPBLENDVB(R) "vpblendvb %%ymm15, %%ymm14, " R ", " R "\n\t"
#define Y_VPAND(R) "vpand %%ymm15, " R ", " R "\n\t"
#define Y_LOAD(R) "vmovdqu -64(%%rsp), " R "\n\t"

// Constants that permutes and blends need, from memory; below the stack pointer any bytes will do.
#define LOAD(R) "vmovdqu64 -64(%%rsp), " R "\n\t"
#define KMOVW(R) "kmovw -64(%%rsp), %%k1\n\t"
#define KMOVQ(R) "kmovq -64(%%rsp), %%k1\n\t"

int main(void) {
    const __m512i zero = _mm512_setzero_si512();
    __asm__ volatile("vpxord %%zmm30, %%zmm30, %%zmm30\n\tvpxord %%zmm31, %%zmm31, %%zmm31\n\t"
                     "vpxor %%xmm14, %%xmm14, %%xmm14\n\tvpxor %%xmm15, %%xmm15, %%xmm15\n\t"
                     "kxnorw %%k1, %%k1, %%k1" : : : "xmm14", "xmm15", "xmm30", "xmm31", "k1");
    printf("AVX-512, 512 bits\n");
    printf("%-14s %-12s %-13s %5s %7s\n", "instruction", "pattern", "bits", "apart", "chained");
    MEASURE("vpermd", "permute one", "32", VPERMD);
    MEASURE("vpermw", "permute one", "16", VPERMW);
    MEASURE("vpermb", "permute one", "8", VPERMB);
    MEASURE("vpermq", "permute one", "64", VPERMQ);
    MEASURE("vpermt2d", "permute two", "32, 64", VPERMT2D);
    MEASURE("vpermt2w", "permute two", "16", VPERMT2W);
    MEASURE("vpermt2b", "permute two", "8", VPERMT2B);
    MEASURE("valignd", "align", "32", VALIGND);
    MEASURE("valignq", "align", "64", VALIGNQ);
    MEASURE("vpalignr", "align within", "8 to 64", VPALIGNR);
    MEASURE("vpunpckldq", "unpack", "8, 16, 32, 64", VPUNPCKLDQ);
    MEASURE("vpshufd", "within", "32", VPSHUFD);
    MEASURE("vpshufb", "within each", "8, 16", VPSHUFB);
    MEASURE("vshufps", "halves", "32, 64", VSHUFPS);
    MEASURE("vshufi32x4", "quarters", "8 to 64", VSHUFI32X4);
    MEASURE("vpblendmd", "blend", "32, 64", VPBLENDMD);
    MEASURE("vpblendmb", "blend", "8, 16", VPBLENDMB);
    MEASURE("vmovdqa32 {z}", "zeros", "32, 64", VMOVDQA32Z);
    MEASURE("vmovdqu8 {z}", "zeros", "8, 16", VMOVDQU8Z);
    MEASURE("vmovdqu64", "index", "8 to 64", LOAD);
    MEASURE("kmovw", "mask", "32, 64", KMOVW);
    MEASURE("kmovq", "mask", "8, 16", KMOVQ);
    printf("AVX2, 256 bits\n");
    MEASURE_HALF("vpermd", "permute one", "32", Y_VPERMD);
    MEASURE_HALF("vpermq", "permute one", "64", Y_VPERMQ);
    MEASURE_HALF("vperm2i128", "chunks", "8 to 64", Y_VPERM2I128);
    MEASURE_HALF("vpalignr", "align within", "8 to 64", Y_VPALIGNR);
    MEASURE_HALF("vpunpckldq", "unpack", "8 to 64", Y_VPUNPCKLDQ);
    MEASURE_HALF("vpshufd", "within", "32", Y_VPSHUFD);
    MEASURE_HALF("vpshufb", "within each", "8, 16", Y_VPSHUFB);
    MEASURE_HALF("vshufps", "halves", "32", Y_VSHUFPS);
    MEASURE_HALF("vpblendd", "blend", "32, 64", Y_VPBLENDD);
    MEASURE_HALF("vpblendvb", "blend", "8, 16", Y_VPBLENDVB);
    MEASURE_HALF("vpand", "zeros", "8 to 64", Y_VPAND);
    MEASURE_HALF("vmovdqu", "index", "8 to 64", Y_LOAD);
    return 0;
}
