/* Executes AMX instructions: each one traps with SIGILL, and the handler decodes it, does what it says
 * and goes on behind it. A shared library for x86-64 Linux:
 *
 *     dlopen(..., RTLD_GLOBAL) or linked, then amx_emulator_install(); or LD_PRELOAD=.
 *
 * Tiles belong to a thread, from ldtilecfg to tilerelease. An instruction that the manual answers
 * with #UD or #GP ends the program with a message. Any other SIGILL goes to the handler that was
 * there before. CPUID cannot be faked: a program learns through hbc_amx_emulated (amx_probe.h) that
 * it may use AMX.
 *
 * On a processor that has AMX, only code that is made to trap is emulated: AMX_TRAP stands before each
 * instruction, which traps everywhere. To refuse the permission to use tiles would not do: without it
 * Linux lets what reads or writes tiles trap, but ldtilecfg, sttilecfg and tilerelease, which Intel's
 * extended feature disable exempts, are executed by the processor, and nobody learns of them. All other
 * code is left to that processor, and hbc_amx_emulated says so.
 *
 * AMX_EMULATOR_COUNTS=FILE writes the counts of executed instructions as JSON when a program ends
 * that executed any.
 *
 * Linux gives a handler fresh vector registers and restores the thread's own afterwards: it may use
 * them freely. Not emulated: AMX inside the handler of another signal that interrupted AMX code. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

#include "amx_decode.h"
#include "amx_probe.h"
#include "amx_product.h"

int amx_emulator_install(void);
size_t amx_emulator_counts(uint64_t *counts, size_t capacity);
const char *amx_emulator_name(size_t kind);
void amx_emulator_reset_counts(void);
void amx_emulator_set_features(unsigned features);
unsigned hbc_amx_emulated(void);

/* ud2, and a word that no other code has behind it: amx_emulator.py puts them before instructions. */
static const uint8_t AMX_TRAP[5] = {0x0f, 0x0b, 'A', 'M', 'X'};

/* A pointer only: room in the static thread storage of a library that is loaded late is scarce, and
 * any other storage may allocate, which a signal handler must not. */
static __thread struct amx_tiles *thread_tiles __attribute__((tls_model("initial-exec")));

static uint64_t executed[AMX_KINDS];
static unsigned features = AMX_TILE | AMX_INT8 | AMX_BF16 | AMX_FP16;
static int installed;
static struct sigaction previous;

typedef int sigaction_function(int, const struct sigaction *, struct sigaction *);

/* That of the C library: ours below stands before it when this library is preloaded. */
static sigaction_function *real_sigaction(void)
{
    static sigaction_function *found;
    if (!found) {
        void *symbol = dlsym(RTLD_NEXT, "sigaction");
        memcpy(&found, &symbol, sizeof found);
    }
    return found;
}

static unsigned feature_of(enum amx_kind kind)
{
    if (kind == AMX_TDPBF16PS)
        return AMX_BF16;
    if (kind == AMX_TDPFP16PS)
        return AMX_FP16;
    return kind >= AMX_TDPBSSD ? AMX_INT8 : AMX_TILE;
}

static void load_config(struct amx_op *op, const void *memory)
{
    if (!thread_tiles) {
        void *fresh = mmap(NULL, sizeof *thread_tiles, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (fresh == MAP_FAILED)
            amx_refuse(&(struct amx_config){0}, op, "no memory", "the emulator needs 9 KB");
        thread_tiles = fresh;
    }
    amx_load_config(thread_tiles, op, memory);
}

static void release(void)
{
    if (thread_tiles)
        munmap(thread_tiles, sizeof *thread_tiles);
    thread_tiles = NULL;
}

static void execute(struct amx_decoded *d)
{
    static struct amx_tiles unconfigured; /* the rules keep it as it is */
    struct amx_tiles *tiles = thread_tiles ? thread_tiles : &unconfigured;
    void *memory = (void *)(uintptr_t)d->base;
    void *operand = (void *)(uintptr_t)(d->base + d->index);
    switch (d->op.kind) {
    case AMX_LDTILECFG:
        load_config(&d->op, operand);
        break;
    case AMX_STTILECFG:
        amx_store_config(tiles, operand);
        break;
    case AMX_TILERELEASE:
        release();
        break;
    case AMX_TILEZERO:
        amx_zero(tiles, &d->op);
        break;
    case AMX_TILELOADD:
    case AMX_TILELOADDT1:
        amx_load(tiles, &d->op, memory, (ptrdiff_t)d->index);
        break;
    case AMX_TILESTORED:
        amx_store(tiles, &d->op, memory, (ptrdiff_t)d->index);
        break;
    default:
        amx_product(tiles, &d->op);
    }
    __atomic_fetch_add(&executed[d->op.kind], 1, __ATOMIC_RELAXED);
}

/* Byte by byte: nothing behind a shorter instruction is read, it may end its page. */
static int is_trap(const uint8_t *code)
{
    size_t same = 0;
    while (same < sizeof AMX_TRAP && code[same] == AMX_TRAP[same])
        ++same;
    return same == sizeof AMX_TRAP;
}

/* Whether the processor has tiles of its own. */
static int has_tiles(void)
{
    static int known; /* 1: no, 2: yes */
    int answer = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (answer == 0) {
        answer = amx_processor_features() & AMX_TILE ? 2 : 1;
        __atomic_store_n(&known, answer, __ATOMIC_RELAXED);
    }
    return answer == 2;
}

/* Executes the AMX instructions that the thread stands before, returns how many there were: a trap
 * costs more than an instruction, and they come in groups. */
static size_t execute_all(greg_t *registers)
{
    struct amx_decoded d;
    size_t count = 0;
    for (;; ++count) {
        const uint8_t *code = (const uint8_t *)(uintptr_t)registers[REG_RIP];
        if (is_trap(code))
            code += sizeof AMX_TRAP;
        else if (has_tiles()) /* what does not trap is executed: it is the processor's */
            return count;
        if (!amx_decode(code, registers, &d))
            return count;
        if (!(features & AMX_TILE) || !(features & feature_of(d.op.kind)))
            return count;
        execute(&d);
        registers[REG_RIP] = (greg_t)(uintptr_t)d.next;
    }
}

/* As if the signal had come when the handler before ours was installed. */
static void pass_on(int signal_number, siginfo_t *info, void *context)
{
    const struct sigaction to = previous;
    const int sent = info->si_code <= 0; /* by kill() or raise(), not by an instruction */
    if (!(to.sa_flags & SA_SIGINFO) && to.sa_handler == SIG_IGN && sent)
        return;
    if (!(to.sa_flags & SA_SIGINFO) && (to.sa_handler == SIG_IGN || to.sa_handler == SIG_DFL)) {
        const struct sigaction die = {.sa_handler = SIG_DFL};
        real_sigaction()(SIGILL, &die, NULL); /* the instruction is about to trap again */
        if (sent)
            raise(SIGILL);
        return;
    }
    if (to.sa_flags & (int)SA_RESETHAND)
        previous = (struct sigaction){.sa_handler = SIG_DFL};
    sigset_t blocked = to.sa_mask;
    if (!(to.sa_flags & SA_NODEFER))
        sigaddset(&blocked, SIGILL);
    sigprocmask(SIG_BLOCK, &blocked, NULL); /* until this handler returns */
    if (to.sa_flags & SA_SIGINFO)
        to.sa_sigaction(signal_number, info, context);
    else
        to.sa_handler(signal_number);
}

static void on_illegal_instruction(int signal_number, siginfo_t *info, void *context)
{
    const int saved = errno;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    if (info->si_code <= 0 || execute_all(registers) == 0)
        pass_on(signal_number, info, context);
    errno = saved;
}

static int is_ours(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == on_illegal_instruction;
}

/* Begins to emulate, in all threads. Once more does no harm, and takes the place of a handler that
 * was installed since. Returns 0, or an error number. */
int amx_emulator_install(void)
{
    struct sigaction before, ours = {.sa_sigaction = on_illegal_instruction};
    if (!real_sigaction())
        return ENOSYS;
    ours.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigemptyset(&ours.sa_mask);
    if (real_sigaction()(SIGILL, NULL, &before) != 0)
        return errno;
    if (!is_ours(&before)) {
        previous = before;
        if (real_sigaction()(SIGILL, &ours, NULL) != 0)
            return errno;
    }
    __atomic_store_n(&installed, 1, __ATOMIC_RELEASE);
    return 0;
}

/* Copies the counts of executed instructions, in the order of amx_emulator_name, and returns how
 * many kinds there are. */
size_t amx_emulator_counts(uint64_t *counts, size_t capacity)
{
    for (size_t i = 0; i < AMX_KINDS && i < capacity; ++i)
        counts[i] = __atomic_load_n(&executed[i], __ATOMIC_RELAXED);
    return AMX_KINDS;
}

/* NULL behind the last one. */
const char *amx_emulator_name(size_t kind)
{
    static const char *const names[] = {AMX_INSTRUCTIONS(AMX_NAME)};
    return kind < AMX_KINDS ? names[kind] : NULL;
}

void amx_emulator_reset_counts(void)
{
    for (size_t i = 0; i < AMX_KINDS; ++i)
        __atomic_store_n(&executed[i], 0, __ATOMIC_RELAXED);
}

/* Emulates a processor with these features of amx_probe.h only; 0 is one without AMX. */
void amx_emulator_set_features(unsigned wanted)
{
    features = wanted & (AMX_TILE | AMX_INT8 | AMX_BF16 | AMX_FP16);
}

/* Of code that is not made to trap; that which is asks nobody. */
unsigned hbc_amx_emulated(void)
{
    const int acts = __atomic_load_n(&installed, __ATOMIC_ACQUIRE) && !has_tiles();
    return acts ? AMX_EMULATED | features : 0;
}

/* A handler that the program installs while this library is preloaded comes behind ours. */
int sigaction(int signal_number, const struct sigaction *action, struct sigaction *old)
{
    if (signal_number != SIGILL || !installed)
        return real_sigaction()(signal_number, action, old);
    const struct sigaction before = previous;
    if (action)
        previous = *action;
    if (old)
        *old = before;
    return 0;
}

sighandler_t signal(int signal_number, sighandler_t handler)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;
    sigemptyset(&action.sa_mask);
    return sigaction(signal_number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

/* Whether LD_PRELOAD names the file that this code is in. */
static int is_preloaded(void)
{
    static const char here;
    const char *list = getenv("LD_PRELOAD");
    Dl_info info;
    return list && dladdr(&here, &info) && info.dli_fname && strstr(list, info.dli_fname);
}

__attribute__((constructor)) static void begin(void)
{
    if (is_preloaded())
        amx_emulator_install();
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("AMX_EMULATOR_COUNTS");
    uint64_t all = 0;
    for (size_t i = 0; i < AMX_KINDS; ++i)
        all += executed[i];
    FILE *file = path && all > 0 ? fopen(path, "w") : NULL;
    if (!file)
        return;
    for (size_t i = 0; i < AMX_KINDS; ++i)
        fprintf(file, "%s\"%s\": %llu", i == 0 ? "{" : ", ", amx_emulator_name(i),
                (unsigned long long)executed[i]);
    fprintf(file, "}\n");
    fclose(file);
}
