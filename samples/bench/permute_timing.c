// Times `run_found` and `run_plain` in turns, after checking that both make the same. Included by what
// permute_table.py writes: `arrays`, `element`, `BLOCKS`. Prints nanoseconds of processor time for a block.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CALLS = 4000, TURNS = 9, COUNT = sizeof arrays / sizeof arrays[0] };

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double timed(void (*run)(void))
{
    const double began = seconds();
    for (int i = 0; i < CALLS; i++)
        run();
    return (seconds() - began) / CALLS / BLOCKS * 1e9;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void check(void)
{
    unsigned char *kept[COUNT];
    for (int i = 0; i < COUNT; i++)
        for (size_t at = 0; at < arrays[i].size; at++)
            ((unsigned char *)arrays[i].at)[at] = arrays[i].output ? 0xA5 : (unsigned char)(rand() >> 7);
    run_plain();
    for (int i = 0; i < COUNT; i++) {
        kept[i] = malloc(arrays[i].size);
        memcpy(kept[i], arrays[i].at, arrays[i].size);
        if (arrays[i].output)
            memset(arrays[i].at, 0x5A, arrays[i].size);
    }
    run_found();
    for (int i = 0; i < COUNT; i++) {
        if (memcmp(kept[i], arrays[i].at, arrays[i].size)) {
            fprintf(stderr, "the results differ\n");
            exit(1);
        }
        free(kept[i]);
    }
}

int main(void)
{
    double found[TURNS], plain[TURNS];
    check();
    for (int turn = 0; turn < TURNS; turn++) {
        found[turn] = timed(run_found);
        plain[turn] = timed(run_plain);
    }
    qsort(found, TURNS, sizeof *found, ascending);
    qsort(plain, TURNS, sizeof *plain, ascending);
    printf("%.3f %.3f\n", found[TURNS / 2], plain[TURNS / 2]);
    return 0;
}
