/* The AMX tile registers and the instructions on them as functions: what amx_emulator.c executes
 * for each instruction that traps, and what amx_soft.h puts in place of the intrinsics.
 *
 * Palette 1, the only one there is: eight tiles of at most 16 rows of 64 bytes. Source: Intel SDM,
 * volume 1, chapter "Programming with Intel AMX"; volume 2, the instructions' pages and the
 * exception classes AMX-E1 to AMX-E6. What the manual answers with an exception is answered here
 * with a message and abort(). Bytes of a tile outside its rows and columns are zero at all times.
 * */
#ifndef AMX_TILES_H
#define AMX_TILES_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AMX_INSTRUCTIONS(X) \
    X(LDTILECFG, "ldtilecfg") X(STTILECFG, "sttilecfg") X(TILERELEASE, "tilerelease") \
    X(TILEZERO, "tilezero") \
    X(TILELOADD, "tileloadd") X(TILELOADDT1, "tileloaddt1") X(TILESTORED, "tilestored") \
    X(TDPBSSD, "tdpbssd") X(TDPBSUD, "tdpbsud") X(TDPBUSD, "tdpbusd") X(TDPBUUD, "tdpbuud") \
    X(TDPBF16PS, "tdpbf16ps") X(TDPFP16PS, "tdpfp16ps")

#define AMX_KIND(id, name) AMX_##id,
enum amx_kind { AMX_INSTRUCTIONS(AMX_KIND) AMX_KINDS };

enum { AMX_TILES = 8, AMX_ROWS = 16, AMX_ROW_BYTES = 64, AMX_LANES = 16 };

/* The operand of LDTILECFG and STTILECFG. The last eight of each array are reserved. */
struct amx_config {
    uint8_t palette, start_row, reserved[14];
    uint16_t colsb[16]; /* bytes of a row */
    uint8_t rows[16];
};

struct amx_tiles {
    struct amx_config config; /* palette 0: not configured */
    uint8_t bytes[AMX_TILES][AMX_ROWS][AMX_ROW_BYTES] __attribute__((aligned(64)));
};

/* An instruction with its tile operands, destination first; -1 where it has fewer. */
struct amx_op {
    enum amx_kind kind;
    int tile[3];
    const void *address; /* of the instruction, NULL when not known */
};

/* A line of text, made without anything that a signal handler must not call. */
struct amx_line {
    char text[400];
    size_t length;
};

static inline void amx_say(struct amx_line *line, const char *words)
{
    for (; *words && line->length < sizeof line->text; ++words)
        line->text[line->length++] = *words;
}

static inline void amx_say_number(struct amx_line *line, uint64_t number, unsigned base)
{
    char digits[24];
    size_t at = sizeof digits - 1;
    digits[at] = 0;
    do
        digits[--at] = "0123456789abcdef"[number % base];
    while (number /= base);
    amx_say(line, digits + at);
}

static inline void amx_say_tile(struct amx_line *line, int tile)
{
    amx_say(line, "tmm");
    amx_say_number(line, (uint64_t)tile, 10);
}

/* "AMX: #UD in tdpbssd tmm0, tmm1, tmm2: RULE (tmm0 16x64, tmm1 15x64, tmm2 16x64)", then abort. */
__attribute__((noreturn, cold, noinline, unused)) static void amx_refuse(
    const struct amx_config *config, const struct amx_op *op, const char *exception,
    const char *rule)
{
#define AMX_NAME(id, name) name,
    static const char *const names[] = {AMX_INSTRUCTIONS(AMX_NAME)};
    struct amx_line line = {.length = 0};
    amx_say(&line, "AMX: ");
    amx_say(&line, exception);
    amx_say(&line, " in ");
    amx_say(&line, names[op->kind]);
    for (int i = 0; i < 3 && op->tile[i] >= 0; ++i) {
        amx_say(&line, i == 0 ? " " : ", ");
        amx_say_tile(&line, op->tile[i]);
    }
    if (op->address) {
        amx_say(&line, " at 0x");
        amx_say_number(&line, (uintptr_t)op->address, 16);
    }
    amx_say(&line, ": ");
    amx_say(&line, rule);
    for (int i = 0; i < 3 && op->tile[i] >= 0 && op->tile[i] < AMX_TILES && config->palette; ++i) {
        amx_say(&line, i == 0 ? " (" : ", ");
        amx_say_tile(&line, op->tile[i]);
        amx_say(&line, " is ");
        amx_say_number(&line, config->rows[op->tile[i]], 10);
        amx_say(&line, "x");
        amx_say_number(&line, config->colsb[op->tile[i]], 10);
        if (i == 2 || op->tile[i + 1] < 0)
            amx_say(&line, " bytes)");
    }
    amx_say(&line, "\n");
    if (write(STDERR_FILENO, line.text, line.length) < 0)
        abort(); /* nobody to tell */
    abort();
}

static inline void amx_release(struct amx_tiles *tiles)
{
    memset(tiles, 0, sizeof *tiles);
}

/* The rules of class AMX-E1, #GP. */
static inline void amx_check_config(const struct amx_config *config, struct amx_op *op)
{
    if (config->palette != 1)
        amx_refuse(config, op, "#GP", "the palette is neither 0 nor 1");
    for (int i = 0; i < 14; ++i)
        if (config->reserved[i])
            amx_refuse(config, op, "#GP", "a reserved byte of the configuration is not zero");
    for (int i = 0; i < 16; ++i) {
        if (i >= AMX_TILES && (config->rows[i] || config->colsb[i]))
            amx_refuse(config, op, "#GP", "the configuration names more than eight tiles");
        op->tile[0] = i; /* for the message */
        if (config->rows[i] > AMX_ROWS)
            amx_refuse(config, op, "#GP", "a tile of more than 16 rows");
        if (config->colsb[i] > AMX_ROW_BYTES)
            amx_refuse(config, op, "#GP", "a tile with rows of more than 64 bytes");
        if (!config->rows[i] != !config->colsb[i])
            amx_refuse(config, op, "#GP", "a tile with rows but no columns, or the reverse");
        op->tile[0] = -1;
    }
}

static inline void amx_load_config(struct amx_tiles *tiles, struct amx_op *op, const void *memory)
{
    struct amx_config config;
    memcpy(&config, memory, sizeof config);
    if (config.palette != 0)
        amx_check_config(&config, op);
    amx_release(tiles);
    if (config.palette != 0)
        tiles->config = config;
}

static inline void amx_store_config(const struct amx_tiles *tiles, void *memory)
{
    memcpy(memory, &tiles->config, sizeof tiles->config);
}

/* What classes AMX-E3 to AMX-E5 ask of each tile operand. */
static inline void amx_check_tile(
    const struct amx_config *config, const struct amx_op *op, int tile)
{
    if (config->palette == 0)
        amx_refuse(config, op, "#UD", "no tile configuration is loaded");
    if (tile >= AMX_TILES)
        amx_refuse(config, op, "#UD", "there are eight tiles, tmm0 to tmm7");
    if (config->rows[tile] == 0)
        amx_refuse(config, op, "#UD", "the tile is not configured");
    if (config->colsb[tile] % 4 != 0 && op->kind != AMX_TILEZERO)
        amx_refuse(config, op, "#UD", "the bytes of a row are not a multiple of 4");
}

static inline void amx_zero(struct amx_tiles *tiles, const struct amx_op *op)
{
    amx_check_tile(&tiles->config, op, op->tile[0]);
    memset(tiles->bytes[op->tile[0]], 0, sizeof tiles->bytes[0]);
    tiles->config.start_row = 0;
}

static inline void amx_check_rows(const struct amx_config *config, const struct amx_op *op)
{
    amx_check_tile(config, op, op->tile[0]);
    if (config->start_row >= config->rows[op->tile[0]])
        amx_refuse(config, op, "#UD", "the configuration's start_row is not a row of the tile");
}

/* A load that starts at a later row continues an interrupted one, and keeps the rows before it. */
static inline void amx_load(
    struct amx_tiles *tiles, const struct amx_op *op, const void *base, ptrdiff_t stride)
{
    amx_check_rows(&tiles->config, op);
    const int tile = op->tile[0], rows = tiles->config.rows[tile];
    const size_t bytes = tiles->config.colsb[tile];
    for (int row = tiles->config.start_row; row < rows; ++row) {
        memcpy(tiles->bytes[tile][row], (const char *)base + row * stride, bytes);
        memset(tiles->bytes[tile][row] + bytes, 0, AMX_ROW_BYTES - bytes);
    }
    tiles->config.start_row = 0;
}

static inline void amx_store(
    struct amx_tiles *tiles, const struct amx_op *op, void *base, ptrdiff_t stride)
{
    amx_check_rows(&tiles->config, op);
    const int tile = op->tile[0], rows = tiles->config.rows[tile];
    for (int row = tiles->config.start_row; row < rows; ++row)
        memcpy((char *)base + row * stride, tiles->bytes[tile][row], tiles->config.colsb[tile]);
    tiles->config.start_row = 0;
}

/* The rules of class AMX-E4 for C (M x N dwords) += A (M x K) * B (K x N): tiles C, A, B. */
static inline void amx_check_product(const struct amx_config *config, const struct amx_op *op)
{
    const int c = op->tile[0], a = op->tile[1], b = op->tile[2];
    if (c == a || c == b || a == b)
        amx_refuse(config, op, "#UD", "the three tiles are not distinct");
    for (int i = 0; i < 3; ++i)
        amx_check_tile(config, op, op->tile[i]);
    if (config->rows[c] != config->rows[a])
        amx_refuse(config, op, "#UD", "the first two tiles differ in rows");
    if (config->colsb[c] != config->colsb[b])
        amx_refuse(config, op, "#UD", "the first and the third tile differ in bytes of a row");
    if (config->colsb[a] / 4 != config->rows[b])
        amx_refuse(config, op, "#UD",
                   "the second tile has not 4 bytes a row for each row of the third");
}

#endif
