/* The AMX intrinsics as volatile assembly that the compiler takes for reading and writing memory.
 *
 * They replace those of <immintrin.h>: gcc 12 believes that `_tile_loadd` and `_tile_loadconfig`
 * read no memory, so that storing into a packing buffer between two loads of it is optimised away.
 * And the one for fp16 is there too, which neither gcc 12 nor clang 14 has; it is spelled in bytes
 * because their assemblers may not know it. Tile numbers are constants. Compile with -mamx-tile
 * -mamx-int8 -mamx-bf16. Nothing happens when amx_soft.h came first. */
#if !defined(AMX_SOFT) && !defined(AMX_INTRINSICS_H)
#define AMX_INTRINSICS_H

/* Before the definitions below, because a later include must not undo them. */
#include <immintrin.h>

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

#define _tile_loadconfig(config) \
    __asm__ volatile("ldtilecfg (%0)" : : "r"((const void *)(config)) : "memory")
#define _tile_storeconfig(config) \
    __asm__ volatile("sttilecfg (%0)" : : "r"((void *)(config)) : "memory")
#define _tile_release() __asm__ volatile("tilerelease" : : : "memory")
#define _tile_zero(tile) __asm__ volatile("tilezero %%tmm%c0" : : "i"(tile) : "memory")

/* Row r lies `stride` * r bytes behind `base`. */
#define _tile_loadd(tile, base, stride) \
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm%c2" \
                     : : "r"((const void *)(base)), "r"((long long)(stride)), "i"(tile) : "memory")
#define _tile_stream_loadd(tile, base, stride) \
    __asm__ volatile("tileloaddt1 (%0,%1,1), %%tmm%c2" \
                     : : "r"((const void *)(base)), "r"((long long)(stride)), "i"(tile) : "memory")
#define _tile_stored(tile, base, stride) \
    __asm__ volatile("tilestored %%tmm%c2, (%0,%1,1)" \
                     : : "r"((void *)(base)), "r"((long long)(stride)), "i"(tile) : "memory")

/* c += a * b */
#define AMX_PRODUCT(name, c, a, b) \
    __asm__ volatile(name " %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(c), "i"(a), "i"(b) : "memory")
#define _tile_dpbssd(c, a, b) AMX_PRODUCT("tdpbssd", c, a, b)
#define _tile_dpbsud(c, a, b) AMX_PRODUCT("tdpbsud", c, a, b)
#define _tile_dpbusd(c, a, b) AMX_PRODUCT("tdpbusd", c, a, b)
#define _tile_dpbuud(c, a, b) AMX_PRODUCT("tdpbuud", c, a, b)
#define _tile_dpbf16ps(c, a, b) AMX_PRODUCT("tdpbf16ps", c, a, b)
/* VEX.128.F2.0F38.W0 5C 11:ccc:aaa, with b in VEX.vvvv */
#define _tile_dpfp16ps(c, a, b) \
    __asm__ volatile(".byte 0xc4, 0xe2, 0x03 + 8 * (15 - %c2), 0x5c, 0xc0 + 8 * %c0 + %c1" \
                     : : "i"(c), "i"(a), "i"(b) : "memory")

#endif
