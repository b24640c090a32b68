/* Reading an AMX instruction out of the machine code of a stopped thread, x86-64 Linux.
 *
 * All have a three-byte VEX prefix, VEX.128.0F38.W0, and the opcode 49, 4B, 5C or 5E (Intel SDM
 * volume 2, the instructions' pages; section 2.3 for VEX, 2.1.5 for addressing). */
#ifndef AMX_DECODE_H
#define AMX_DECODE_H

#include <asm/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "amx_tiles.h"

struct amx_decoded {
    struct amx_op op;
    uint64_t base, index; /* of a memory operand; its rows are `index` bytes apart */
    const uint8_t *next;  /* the following instruction */
};

/* The fields of prefix and ModRM, inversions undone; `pp`: prefix none, 66, F3, F2. */
struct amx_fields {
    unsigned pp, vvvv, mod, reg, rm, index_high, rm_high, segment, short_address;
};

/* By pp. The kinds of opcode 49 depend on more. */
static const signed char amx_rows_kinds[4] = {-1, AMX_TILELOADDT1, AMX_TILESTORED, AMX_TILELOADD};
static const signed char amx_float_kinds[4] = {-1, -1, AMX_TDPBF16PS, AMX_TDPFP16PS};
static const signed char amx_int_kinds[4] = {AMX_TDPBUUD, AMX_TDPBUSD, AMX_TDPBSUD, AMX_TDPBSSD};

/* Opcode 49: the configuration in memory; otherwise a tile, or no operand. -1: none of them. */
static inline int amx_config_kind(const struct amx_fields *f)
{
    if (f->mod != 3)
        return f->reg != 0 ? -1 : f->pp == 0 ? AMX_LDTILECFG : f->pp == 1 ? AMX_STTILECFG : -1;
    if (f->rm != 0 || f->rm_high != 0)
        return -1;
    return f->pp == 3 ? AMX_TILEZERO : f->pp == 0 && f->reg == 0 ? AMX_TILERELEASE : -1;
}

static inline uint64_t amx_register(const greg_t *registers, unsigned number)
{
    static const unsigned char place[16] = {
        REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
        REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
    };
    return (uint64_t)registers[place[number]];
}

static inline int32_t amx_displacement(const uint8_t *from)
{
    int32_t value;
    memcpy(&value, from, sizeof value);
    return value;
}

static inline uint64_t amx_segment_base(unsigned prefix)
{
    uint64_t base = 0;
    if (prefix)
        syscall(SYS_arch_prctl, prefix == 0x64 ? ARCH_GET_FS : ARCH_GET_GS, &base);
    return base;
}

/* The bytes behind ModRM: SIB and displacement. Sets base, index and next. */
static inline void amx_decode_memory(
    const struct amx_fields *f, const uint8_t *code, const greg_t *registers,
    struct amx_decoded *to)
{
    unsigned base = f->rm | f->rm_high << 3;
    int has_base = 1, wide = f->mod == 2;
    to->base = amx_segment_base(f->segment);
    if (f->rm == 4) {
        const unsigned sib = *code++, index = (sib >> 3 & 7) | f->index_high << 3;
        base = (sib & 7) | f->rm_high << 3;
        if (index != 4) /* 4 says that there is none: the stride is 0 */
            to->index = amx_register(registers, index) << (sib >> 6);
        if ((sib & 7) == 5 && f->mod == 0)
            has_base = 0, wide = 1;
    } else if (f->rm == 5 && f->mod == 0) { /* relative to the next instruction */
        has_base = 0, wide = 1;
        to->base += (uint64_t)(uintptr_t)(code + 4);
    }
    if (has_base)
        to->base += amx_register(registers, base);
    if (wide)
        to->base += (uint64_t)(int64_t)amx_displacement(code), code += 4;
    else if (f->mod == 1)
        to->base += (uint64_t)(int64_t)(int8_t)*code++;
    to->next = code;
}

/* What an instruction must be besides well-formed; the message names it. */
static inline void amx_check_encoding(const struct amx_fields *f, const struct amx_op *op)
{
    static const struct amx_config none = {0};
    const int moves_rows = op->kind >= AMX_TILELOADD && op->kind <= AMX_TILESTORED;
    if (op->tile[1] < 0 && f->vvvv != 0)
        amx_refuse(&none, op, "#UD", "VEX.vvvv is not 1111b");
    if (moves_rows && (f->mod == 3 || f->rm != 4))
        amx_refuse(&none, op, "#UD", "the memory operand has no SIB byte");
    if (f->short_address && f->mod != 3)
        amx_refuse(&none, op, "#UD", "32-bit addresses are not emulated");
}

/* Returns 0 when the code there is not an AMX instruction that this emulator knows. */
static inline int amx_decode(const uint8_t *code, const greg_t *registers, struct amx_decoded *to)
{
    const uint8_t *const start = code;
    struct amx_fields f = {0};
    for (;; ++code) {
        if (*code == 0x64 || *code == 0x65)
            f.segment = *code;
        else if (*code == 0x67)
            f.short_address = 1;
        else
            break;
    }
    /* In this order: nothing behind a shorter instruction is read, it may end its page. */
    if (code[0] != 0xc4 || (code[1] & 31) != 2 || (code[2] & 0x84) != 0)
        return 0;
    if (code[3] != 0x49 && code[3] != 0x4b && code[3] != 0x5c && code[3] != 0x5e)
        return 0;
    const unsigned opcode = code[3], modrm = code[4];
    f.pp = code[2] & 3, f.vvvv = ~(unsigned)code[2] >> 3 & 15;
    f.mod = modrm >> 6, f.rm = modrm & 7, f.reg = (modrm >> 3 & 7) | (code[1] & 0x80 ? 0 : 8);
    f.index_high = code[1] & 0x40 ? 0 : 1, f.rm_high = code[1] & 0x20 ? 0 : 1;
    const int kind = opcode == 0x49 ? amx_config_kind(&f) : opcode == 0x4b ? amx_rows_kinds[f.pp]
        : f.mod != 3 ? -1 : opcode == 0x5c ? amx_float_kinds[f.pp] : amx_int_kinds[f.pp];
    if (kind < 0)
        return 0;
    *to = (struct amx_decoded){.op = {(enum amx_kind)kind, {-1, -1, -1}, start}, .next = code + 5};
    if (opcode == 0x4b || kind == AMX_TILEZERO)
        to->op.tile[0] = (int)f.reg;
    if (opcode == 0x5c || opcode == 0x5e) {
        const int product[3] = {(int)f.reg, (int)(f.rm | f.rm_high << 3), (int)f.vvvv};
        memcpy(to->op.tile, product, sizeof product);
    }
    amx_check_encoding(&f, &to->op);
    if (f.mod != 3)
        amx_decode_memory(&f, code + 5, registers, to);
    return 1;
}

#endif
