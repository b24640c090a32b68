/* Executes a list of AMX instructions on an arena of memory. Compiled with amx_soft.h, with
 * amx_intrinsics.h (TRAPPED: so that each traps), or with the compiler's own intrinsics (PLAIN), which
 * have none for fp16. With PROGRAM it is a program rather than a library. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "amx_probe.h"

#ifdef PLAIN
#include <immintrin.h>
#endif

/* The order of amx_tiles.h. */
enum {
    LDTILECFG, STTILECFG, TILERELEASE, TILEZERO, TILELOADD, TILELOADDT1, TILESTORED,
    TDPBSSD, TDPBSUD, TDPBUSD, TDPBUUD, TDPBF16PS, TDPFP16PS,
};

struct step {
    int64_t kind, tile[3], offset, stride;
};

#define BARRIER __asm__ volatile("" : : : "memory")

#define ZERO(t) _tile_zero(t)
#define LOAD(t) _tile_loadd(t, at, s->stride)
#define LOADT1(t) _tile_stream_loadd(t, at, s->stride)
#define STORE(t) _tile_stored(t, at, s->stride)

/* Tile numbers are part of an instruction: each is written out, unless a function stands for it. */
#if defined(AMX_SOFT) && !defined(TRAPPED)
#define TILE(DO) DO((int)s->tile[0])
#define SOME(NAME) NAME((int)s->tile[0], (int)s->tile[1], (int)s->tile[2])
#define ALL(NAME) SOME(NAME)
#else
#define ONE(DO, t) case t: DO(t); break;
#define TILE(DO) \
    switch (s->tile[0]) { \
        ONE(DO, 0) ONE(DO, 1) ONE(DO, 2) ONE(DO, 3) ONE(DO, 4) ONE(DO, 5) ONE(DO, 6) ONE(DO, 7) \
    }
#define CASE(NAME, c, a, b) case 64 * c + 8 * a + b: NAME(c, a, b); break;
#define ROW(NAME, c, a) \
    CASE(NAME, c, a, 0) CASE(NAME, c, a, 1) CASE(NAME, c, a, 2) CASE(NAME, c, a, 3) \
    CASE(NAME, c, a, 4) CASE(NAME, c, a, 5) CASE(NAME, c, a, 6) CASE(NAME, c, a, 7)
#define PLANE(NAME, c) \
    ROW(NAME, c, 0) ROW(NAME, c, 1) ROW(NAME, c, 2) ROW(NAME, c, 3) \
    ROW(NAME, c, 4) ROW(NAME, c, 5) ROW(NAME, c, 6) ROW(NAME, c, 7)
#define PRODUCT(CASES) \
    switch (64 * s->tile[0] + 8 * s->tile[1] + s->tile[2]) { \
        CASES \
    default: \
        abort(); \
    }
/* Every tile in every place. Assemblers refuse equal operands, so that the bytes of fp16 alone test
 * what the processor says to them. */
#define SOME(NAME) \
    PRODUCT(CASE(NAME, 0, 1, 2) CASE(NAME, 1, 2, 3) CASE(NAME, 2, 3, 4) CASE(NAME, 3, 4, 5) \
            CASE(NAME, 4, 5, 6) CASE(NAME, 5, 6, 7) CASE(NAME, 6, 7, 0) CASE(NAME, 7, 0, 1))
#define ALL(NAME) \
    PRODUCT(PLANE(NAME, 0) PLANE(NAME, 1) PLANE(NAME, 2) PLANE(NAME, 3) \
            PLANE(NAME, 4) PLANE(NAME, 5) PLANE(NAME, 6) PLANE(NAME, 7))
#endif

static void one(const struct step *s, void *at)
{
    switch (s->kind) {
    case LDTILECFG: _tile_loadconfig(at); break;
    case STTILECFG: _tile_storeconfig(at); break;
    case TILERELEASE: _tile_release(); break;
    case TILEZERO: TILE(ZERO); break;
    case TILELOADD: TILE(LOAD); break;
    case TILELOADDT1: TILE(LOADT1); break;
    case TILESTORED: TILE(STORE); break;
    case TDPBSSD: SOME(_tile_dpbssd); break;
    case TDPBSUD: SOME(_tile_dpbsud); break;
    case TDPBUSD: SOME(_tile_dpbusd); break;
    case TDPBUUD: SOME(_tile_dpbuud); break;
    case TDPBF16PS: SOME(_tile_dpbf16ps); break;
#ifndef PLAIN
    case TDPFP16PS: ALL(_tile_dpfp16ps); break;
#endif
    default: abort();
    }
}

void execute(unsigned char *arena, const struct step *steps, int64_t count);
void execute(unsigned char *arena, const struct step *steps, int64_t count)
{
    for (const struct step *s = steps; s < steps + count; ++s) {
        BARRIER; /* for the compilers' own intrinsics */
        one(s, arena + s->offset);
        BARRIER;
    }
}

unsigned features(void);
unsigned features(void)
{
    return amx_features();
}

#if defined(__x86_64__)
/* The same with the rounding, denormal and trap bits of MXCSR as given; returns them afterwards. */
unsigned execute_in_mode(
    unsigned mode, unsigned char *arena, const struct step *steps, int64_t count);
unsigned execute_in_mode(
    unsigned mode, unsigned char *arena, const struct step *steps, int64_t count)
{
    unsigned before, after;
    __asm__ volatile("stmxcsr %0" : "=m"(before));
    __asm__ volatile("ldmxcsr %0" : : "m"(mode));
    execute(arena, steps, count);
    __asm__ volatile("stmxcsr %0" : "=m"(after));
    __asm__ volatile("ldmxcsr %0" : : "m"(before));
    return after;
}
#endif

#ifdef PROGRAM
/* Reads the arena's size, the arena, the number of steps and the steps; writes the arena. */
int main(void)
{
    int64_t size, count;
    if (fread(&size, sizeof size, 1, stdin) != 1)
        return 2;
    unsigned char *arena = malloc((size_t)size);
    if (!arena || fread(arena, 1, (size_t)size, stdin) != (size_t)size)
        return 2;
    if (fread(&count, sizeof count, 1, stdin) != 1)
        return 2;
    struct step *steps = calloc((size_t)count, sizeof *steps);
    if (!steps || fread(steps, sizeof *steps, (size_t)count, stdin) != (size_t)count)
        return 2;
    features(); /* asks the system for permission */
    execute(arena, steps, count);
    fwrite(arena, 1, (size_t)size, stdout);
    free(steps);
    free(arena);
    return 0;
}
#endif
