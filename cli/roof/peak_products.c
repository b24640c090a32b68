/* Arithmetic peaks of one core in instructions that older compilers do not know, which are spelled in
 * bytes: tiles, dot products, products of small matrices. Independent accumulators hide the latency.
 * Each function performs `operations` (a multiply and an add count two) and has the form of a compiled
 * kernel. Which of them the processor can run is the caller's business. */
#include <stdint.h>
#include <string.h>

#define LOOP(NAME, BEGIN, STEP, PER_STEP, END) \
    int NAME(int64_t operations); \
    int NAME(int64_t operations) { \
        BEGIN \
        for (int64_t done = 0; done < operations; done += (PER_STEP)) \
            STEP; \
        END \
        return 0; \
    }

#if defined(__x86_64__) && defined(__linux__)

/* AMX: a product begins every 16 cycles and takes 52. tmm6 and tmm7 are multiplied into tmm0 .. tmm5: VEX.128.pp.0F38.W0 opcode 11:ccc:110, 7 in vvvv. */
#define INTO(PP, OPCODE, C) ".byte 0xc4, 0xe2, 0x40 + " PP ", " OPCODE ", 0xc6 + 8 * " C "\n"
#define SIX(PP, OPCODE) \
    INTO(PP, OPCODE, "0") INTO(PP, OPCODE, "1") INTO(PP, OPCODE, "2") \
    INTO(PP, OPCODE, "3") INTO(PP, OPCODE, "4") INTO(PP, OPCODE, "5")

/* An emulator in this process defines it, and decides. */
extern unsigned hbc_amx_emulated(void) __attribute__((weak));
extern long syscall(long number, ...);

static int is_permitted(void) {
    enum { ARCH_PRCTL = 158, REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
    if (hbc_amx_emulated != NULL && hbc_amx_emulated() != 0)
        return 1;
    return syscall(ARCH_PRCTL, REQUEST_PERMISSION, TILE_DATA) == 0;
}

/* Eight tiles of 16 rows of 64 bytes: factors that are neither zero nor infinite as bf16, f16 or bytes,
 * and sums of zero. */
static int begin(void) {
    uint8_t configuration[64] = {1}, data[16 * 64];
    if (!is_permitted())
        return 0;
    for (int tile = 0; tile < 8; tile++) {
        configuration[16 + 2 * tile] = 64;
        configuration[48 + tile] = 16;
    }
    memset(data, 0x3c, sizeof data);
    /* ldtilecfg (%rax) */
    __asm__ volatile(".byte 0xc4, 0xe2, 0x78, 0x49, 0x00" : : "a"(configuration) : "memory");
    /* tileloadd (%rax,%rcx,1) */
    __asm__ volatile(".byte 0xc4, 0xe2, 0x7b, 0x4b, 0x34, 0x08\n"
                     ".byte 0xc4, 0xe2, 0x7b, 0x4b, 0x3c, 0x08"
                     : : "a"(data), "c"((long long)64) : "memory");
    return 1;  /* ldtilecfg has made the accumulators zeros */
}

#define TILES(NAME, PP, OPCODE, PER_PRODUCT) \
    LOOP(NAME, if (!begin()) return 1;, __asm__ volatile(SIX(PP, OPCODE) : : : "memory"), \
         6 * (PER_PRODUCT), \
         __asm__ volatile(".byte 0xc4, 0xe2, 0x78, 0x49, 0xc0" : : : "memory");) /* tilerelease */

TILES(peak_u8s8_amx, "1", "0x5e", 2 * 16 * 16 * 64) /* tdpbusd */
TILES(peak_bf16_amx, "2", "0x5c", 2 * 16 * 16 * 32) /* tdpbf16ps */
TILES(peak_f16_amx, "3", "0x5c", 2 * 16 * 16 * 32)  /* tdpfp16ps */

/* AVX-VNNI: vpdpbusd %ymm13, %ymm12, into ymm0 .. ymm11 */
#define LOW(C) ".byte 0xc4, 0xc2, 0x1d, 0x50, 0xc5 + 8 * " C "\n"
#define HIGH(C) ".byte 0xc4, 0x42, 0x1d, 0x50, 0xc5 + 8 * " C "\n"
#define DOTS \
    LOW("0") LOW("1") LOW("2") LOW("3") LOW("4") LOW("5") LOW("6") LOW("7") \
    HIGH("0") HIGH("1") HIGH("2") HIGH("3")
#define WRITTEN \
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11"
LOOP(peak_u8s8_avx2, , __asm__ volatile(DOTS : : : WRITTEN), 12 * 2 * 8 * 4, )

#elif defined(__aarch64__)

/* The factors are v16 and v17, the accumulators v0 .. v11. */
#define ONE(BITS, C) ".inst " BITS " + (17 << 16) + (16 << 5) + " C "\n"
#define ALL(BITS) \
    ONE(BITS, "0") ONE(BITS, "1") ONE(BITS, "2") ONE(BITS, "3") ONE(BITS, "4") ONE(BITS, "5") \
    ONE(BITS, "6") ONE(BITS, "7") ONE(BITS, "8") ONE(BITS, "9") ONE(BITS, "10") ONE(BITS, "11")
#define WRITTEN "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11"
/* Zeros: whatever the registers hold, as bf16 it may be what takes longer. */
#define ZEROS \
    __asm__ volatile("movi v16.4s, 0\nmovi v17.4s, 0" : : : "v16", "v17");
#define ARM(NAME, BITS, PER_STEP) \
    LOOP(NAME, ZEROS, __asm__ volatile(ALL(BITS) : : : WRITTEN, "v16", "v17"), 12 * (PER_STEP), )

ARM(peak_u8s8_i8mm, "0x4e80a400", 2 * 2 * 2 * 8) /* smmla */
ARM(peak_u8s8_dot, "0x4e809400", 2 * 4 * 4)      /* sdot */
ARM(peak_bf16_mmla, "0x6e40ec00", 2 * 2 * 2 * 4) /* bfmmla */

#endif
