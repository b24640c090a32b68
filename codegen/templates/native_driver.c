/* Serves calls of one compiled kernel, in a program for another processor: what the child process of
   `hbc` does in Python where the kernel's library can be loaded. Linked with the kernel, whose name is
   the macro KERNEL.

   Each line of stdin asks for one call, each answer is a line of JSON. A request is words:
   FUNCTION SIZES n.. ARGUMENTS (a BYTES STRIDES n.. LOAD FILL SAVE | i BITS | f BITS)..
   WARMUPS LEAST SECONDS MOST GUARDED
   where LOAD and SAVE are files (- for none) and FILL is a byte (-1 for none); i and f are scalars, f
   those that are passed in registers of floats. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { MOST_ARGUMENTS = 64, MOST_ARRAYS = 64, MOST_TIMES = 1 << 17, MOST_FLOATS = 8, STAGGER = 17 * 64 };

/* The entry points take pointers and int64_t: one register or stack slot each, so that a function
   ignores what is passed beyond its own. Floats have registers of their own, from the first on. */
typedef int64_t Word;
#define FOUR(i) a[i], a[i + 1], a[i + 2], a[i + 3]
#define SIXTEEN(i) FOUR(i), FOUR(i + 4), FOUR(i + 8), FOUR(i + 12)
#define W4 Word, Word, Word, Word
#define W16 W4, W4, W4, W4
#define F8 double, double, double, double, double, double, double, double
typedef int (*Entry)(W16, W16, W16, W16, F8);

#define JOIN(a, b) a##b
#define WITH(name, suffix) JOIN(name, suffix)
#define QUOTED(name) #name
#define TEXT(name) QUOTED(name)
/* By names of our own: a kernel may be called as a variable here is. */
extern int kernel_itself(W16, W16, W16, W16, F8) __asm__(TEXT(KERNEL));
extern int kernel_strided(W16, W16, W16, W16, F8) __asm__(TEXT(WITH(KERNEL, _strided)));
extern const char *kernel_strerror(int code) __asm__(TEXT(WITH(KERNEL, _strerror)));

/* Private zeroed memory for one array. A guarded one ends where a page begins that faults. */
typedef struct {
    unsigned char *base, *data, *begins; /* begins: what it holds before each call, if that matters */
    size_t length, pages, page;
    char load[256], save[256];
    int fill;
} Region;

static void give_up(const char *why)
{
    fprintf(stderr, "%s\n", why);
    exit(3);
}

static int64_t number(void)
{
    int64_t value;
    if (scanf("%" SCNd64, &value) != 1)
        give_up("a request that cannot be read");
    return value;
}

static void make(Region *r, int place, bool guarded)
{
    r->page = (size_t)sysconf(_SC_PAGESIZE);
    r->pages = ((r->length ? r->length : 1) + r->page - 1) / r->page * r->page;
    r->base = mmap(NULL, r->pages + r->page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                   -1, 0);
    if (r->base == MAP_FAILED)
        give_up("MemoryError");
    if (guarded && mprotect(r->base + r->pages, r->page, PROT_NONE) != 0)
        give_up("mprotect failed");
    r->data = r->base + (guarded ? r->pages - r->length : (size_t)place * STAGGER % r->page);
    if (strcmp(r->load, "-") != 0) {
        FILE *file = fopen(r->load, "rb");
        if (!file || fread(r->data, 1, r->length, file) != r->length)
            give_up("an input cannot be read");
        fclose(file);
    }
    if (r->fill >= 0)
        memset(r->data, r->fill, r->length);
    else if (strcmp(r->save, "-") == 0 && guarded && mprotect(r->base, r->pages, PROT_READ) != 0)
        give_up("mprotect failed");
    r->begins = NULL;
    if (strcmp(r->load, "-") != 0 && strcmp(r->save, "-") != 0) {
        if (!(r->begins = malloc(r->length ? r->length : 1)))
            give_up("MemoryError");
        memcpy(r->begins, r->data, r->length);
    }
}

static void begin(const Region *regions, int arrays)
{
    for (int i = 0; i < arrays; ++i)
        if (regions[i].begins)
            memcpy(regions[i].data, regions[i].begins, regions[i].length);
}

static void save(const Region *r)
{
    FILE *file = fopen(r->save, "wb");
    if (!file || fwrite(r->data, 1, r->length, file) != r->length || fclose(file) != 0)
        give_up("an output cannot be written");
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void answer(int code, int count, const double *times)
{
    printf("{\"code\": %d, \"said\": \"", code);
    for (const char *c = code ? kernel_strerror(code) : ""; *c; ++c) {
        if (*c == '"' || *c == '\\')
            putchar('\\');
        putchar(*c);
    }
    printf("\", \"seconds\": [");
    for (int i = 0; i < count; ++i)
        printf("%s%.9g", i ? ", " : "", times[i]);
    printf("]}\n");
    fflush(stdout);
}

static void serve(const char *function)
{
    static Region regions[MOST_ARRAYS];
    static double times[MOST_TIMES];
    Word a[MOST_ARGUMENTS] = {0};
    double f[MOST_FLOATS] = {0};
    int places[MOST_ARRAYS];
    int used = 0;
    for (int64_t n = number(); n > 0 && used < MOST_ARGUMENTS; --n)
        a[used++] = number();
    int arrays = 0, floats = 0;
    for (int64_t n = number(); n > 0; --n) {
        char kind[2];
        if (scanf("%1s", kind) != 1 || used >= MOST_ARGUMENTS)
            give_up("a request that cannot be read");
        if (*kind == 'i') {
            a[used++] = number();
        } else if (*kind == 'f') {
            const int64_t bits = number();
            if (floats == MOST_FLOATS)
                give_up("too many scalars");
            memcpy(&f[floats++], &bits, sizeof bits);
        } else {
            if (arrays == MOST_ARRAYS)
                give_up("too many arrays");
            Region *r = &regions[arrays];
            r->length = (size_t)number();
            places[arrays++] = used++;
            for (int64_t m = number(); m > 0 && used < MOST_ARGUMENTS; --m)
                a[used++] = number();
            if (used >= MOST_ARGUMENTS || scanf("%255s %d %255s", r->load, &r->fill, r->save) != 3)
                give_up("a request that cannot be read");
        }
    }
    const int64_t warmups = number(), least = number();
    double seconds;
    if (scanf("%lf", &seconds) != 1)
        give_up("a request that cannot be read");
    const int64_t most = number();
    const bool guarded = number() != 0;
    for (int i = 0; i < arrays; ++i) {
        make(&regions[i], i, guarded);
        a[places[i]] = (Word)(uintptr_t)regions[i].data;
    }
    const Entry entry = strcmp(function, TEXT(KERNEL)) == 0 ? kernel_itself : kernel_strided;
    int code = 0, count = 0;
    double spent = 0;
    for (int64_t i = 0; i < warmups && !code; ++i) {
        begin(regions, arrays);
        code = entry(SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48),
                     f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7]);
    }
    while (!code && count < MOST_TIMES && (count < least || (spent < seconds && count < most))) {
        begin(regions, arrays);
        const double start = now();
        code = entry(SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48),
                     f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7]);
        times[count] = now() - start;
        spent += times[count++];
    }
    for (int i = 0; i < arrays; ++i) {
        if (!code && strcmp(regions[i].save, "-") != 0)
            save(&regions[i]);
        free(regions[i].begins);
        munmap(regions[i].base, regions[i].pages + regions[i].page);
    }
    answer(code, code ? 0 : count, times);
}

int main(void)
{
    char function[256];
    while (scanf("%255s", function) == 1)
        serve(function);
    return 0;
}
