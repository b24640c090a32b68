/* A program with SIGILL handlers of its own. Its argument says which; see test_emulator.py. Compile
 * with -D_GNU_SOURCE: the intrinsics' header comes first, and includes others. */
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

static sigjmp_buf back;
static volatile int caught, blocked;

/* 1: SIGILL, 2: SIGUSR1. */
static void note_blocked(void)
{
    sigset_t now;
    sigprocmask(SIG_BLOCK, NULL, &now);
    blocked = sigismember(&now, SIGILL) + 2 * sigismember(&now, SIGUSR1);
}

/* ud2 has two bytes. */
static void step_over(int number, siginfo_t *info, void *context)
{
    (void)info;
    note_blocked();
    caught += number == SIGILL;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;
}

static void jump_back(int number)
{
    note_blocked();
    caught += number == SIGILL;
    siglongjmp(back, 1);
}

static void count(int number)
{
    note_blocked();
    caught += number == SIGILL;
}

static void use_tiles(void)
{
    static const int8_t ones[1024] = {1, 1, 1, 1, 1, 1, 1, 1};
    struct {
        uint8_t palette, other[15];
        uint16_t colsb[16];
        uint8_t rows[16];
    } config = {.palette = 1, .colsb = {4, 4, 4}, .rows = {1, 1, 1}};
    int32_t result = 0;
    _tile_loadconfig(&config);
    _tile_loadd(0, &result, 4);
    _tile_loadd(1, ones, 4);
    _tile_loadd(2, ones, 4);
    _tile_dpbssd(0, 1, 2);
    _tile_stored(0, &result, 4);
    _tile_release();
    printf("%d ", result);
}

static void trap(void)
{
    __asm__ volatile("ud2");
}

static int install_emulator(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    int (*install)(void) = NULL;
    void *symbol = library ? dlsym(library, "amx_emulator_install") : NULL;
    memcpy(&install, &symbol, sizeof install);
    return install && install() == 0 ? install() : -1; /* twice is once */
}

static void handle(void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler};
    action.sa_flags = flags;
    sigaddset(&action.sa_mask, SIGUSR1);
    sigaction(SIGILL, &action, NULL);
}

static void step(void)
{
    struct sigaction action = {.sa_sigaction = step_over, .sa_flags = SA_SIGINFO};
    sigaction(SIGILL, &action, NULL);
}

/* Arguments: which handler, and the emulator's path where it is not preloaded. */
int main(int count_of_arguments, char **arguments)
{
    const char *what = count_of_arguments > 1 ? arguments[1] : "";
    const int preloaded = count_of_arguments < 3;
    setvbuf(stdout, NULL, _IONBF, 0);
    if (strcmp(what, "default") == 0)
        handle(SIG_DFL, 0);
    if (strcmp(what, "ignore") == 0)
        handle(SIG_IGN, 0);
    if (strcmp(what, "step") == 0)
        step();
    if (strcmp(what, "jump") == 0)
        handle(jump_back, 0);
    if (strcmp(what, "once") == 0)
        handle(jump_back, (int)SA_RESETHAND);
    if (strcmp(what, "open") == 0)
        handle(jump_back, SA_NODEFER);
    if (strcmp(what, "signal") == 0)
        signal(SIGILL, count);
    if (!preloaded && install_emulator(arguments[2]) != 0)
        return 3;
    for (int i = 0; i < 3; ++i) {
        use_tiles();
        if (strcmp(what, "raise") == 0 || strcmp(what, "signal") == 0
            || (strcmp(what, "ignore") == 0 && i < 2)) {
            raise(SIGILL);
            printf("on ");
        } else if (sigsetjmp(back, strcmp(what, "open") != 0) == 0)
            trap();
    }
    struct sigaction now;
    sigaction(SIGILL, NULL, &now);
    printf("%d %d %d", caught, blocked, preloaded && now.sa_handler == SIG_DFL);
    return 0;
}
