/* The AMX intrinsics in plain C, for `cc -include amx_soft.h kernel.c`: any processor, any option
 * but -ffast-math, no signals. AddressSanitizer sees every byte that a tile load or store touches.
 * The same results as amx_emulator.c, bit for bit: both execute amx_tiles.h and amx_product.h.
 *
 * AMX_SOFT is defined, so that a program can leave out its own definitions of the intrinsics. */
#ifndef AMX_SOFT
#define AMX_SOFT 1

/* Before the definitions below, because a later include must not undo them. */
#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

#include "amx_product.h"

/* One for each thread, shared by the files of a program or library. */
__attribute__((weak, visibility("hidden"))) __thread struct amx_tiles amx_soft_tiles;

static inline struct amx_op amx_soft_op(enum amx_kind kind, int c, int a, int b)
{
    return (struct amx_op){kind, {c, a, b}, NULL};
}

static inline void amx_soft_load_config(const void *config)
{
    struct amx_op op = amx_soft_op(AMX_LDTILECFG, -1, -1, -1);
    amx_load_config(&amx_soft_tiles, &op, config);
}

static inline void amx_soft_zero(int tile)
{
    const struct amx_op op = amx_soft_op(AMX_TILEZERO, tile, -1, -1);
    amx_zero(&amx_soft_tiles, &op);
}

static inline void amx_soft_load(enum amx_kind kind, int tile, const void *base, ptrdiff_t stride)
{
    const struct amx_op op = amx_soft_op(kind, tile, -1, -1);
    amx_load(&amx_soft_tiles, &op, base, stride);
}

static inline void amx_soft_store(int tile, void *base, ptrdiff_t stride)
{
    const struct amx_op op = amx_soft_op(AMX_TILESTORED, tile, -1, -1);
    amx_store(&amx_soft_tiles, &op, base, stride);
}

static inline void amx_soft_product(enum amx_kind kind, int c, int a, int b)
{
    const struct amx_op op = amx_soft_op(kind, c, a, b);
    amx_product(&amx_soft_tiles, &op);
}

#undef _tile_loadconfig
#undef _tile_storeconfig
#undef _tile_release
#undef _tile_zero
#undef _tile_loadd
#undef _tile_stream_loadd
#undef _tile_stored
#undef _tile_dpbssd
#undef _tile_dpbsud
#undef _tile_dpbusd
#undef _tile_dpbuud
#undef _tile_dpbf16ps
#undef _tile_dpfp16ps

#define _tile_loadconfig(config) amx_soft_load_config(config)
#define _tile_storeconfig(config) amx_store_config(&amx_soft_tiles, config)
#define _tile_release() amx_release(&amx_soft_tiles)
#define _tile_zero(tile) amx_soft_zero(tile)
#define _tile_loadd(tile, base, stride) amx_soft_load(AMX_TILELOADD, tile, base, stride)
#define _tile_stream_loadd(tile, base, stride) amx_soft_load(AMX_TILELOADDT1, tile, base, stride)
#define _tile_stored(tile, base, stride) amx_soft_store(tile, base, stride)
#define _tile_dpbssd(c, a, b) amx_soft_product(AMX_TDPBSSD, c, a, b)
#define _tile_dpbsud(c, a, b) amx_soft_product(AMX_TDPBSUD, c, a, b)
#define _tile_dpbusd(c, a, b) amx_soft_product(AMX_TDPBUSD, c, a, b)
#define _tile_dpbuud(c, a, b) amx_soft_product(AMX_TDPBUUD, c, a, b)
#define _tile_dpbf16ps(c, a, b) amx_soft_product(AMX_TDPBF16PS, c, a, b)
#define _tile_dpfp16ps(c, a, b) amx_soft_product(AMX_TDPFP16PS, c, a, b)

#endif
