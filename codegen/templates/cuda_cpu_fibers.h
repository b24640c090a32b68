// Threads of a block as fibers of one operating-system thread: whose turn it is, and changing over.
#pragma once
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
extern "C" void AnnotateIgnoreReadsBegin(const char *, int), AnnotateIgnoreReadsEnd(const char *, int);
extern "C" void AnnotateIgnoreWritesBegin(const char *, int), AnnotateIgnoreWritesEnd(const char *, int);
// The first race ends the program.
extern "C" __attribute__((weak)) const char *__tsan_default_options() { return "halt_on_error=1:exitcode=66"; }
#endif
#if !defined(__x86_64__)
#define CUDA_ON_CPU_UCONTEXT 1
#endif
#if defined(CUDA_ON_CPU_UCONTEXT)
#include <ucontext.h>
#endif

struct CUtensorMap;

namespace cuda_on_cpu __attribute__((visibility("hidden"))) {

constexpr unsigned WARP = 32, MAX_THREADS = 1024;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr size_t STACK = 512 << 10, GUARD = 4096;
#else
constexpr size_t STACK = 128 << 10, GUARD = 4096;
#endif

struct Warp;
struct Thread;
struct Copy { void *to; const void *from; size_t copied; };

// An operand in shared memory, and a product of a group of warps: the part that one thread has of it.
// With `registers`, `a` is there: `rows` are what the four threads that share its rows had when it began.
struct WarpGroupOperand { uint64_t at; unsigned across, down; };
using RegisterRows = std::array<std::array<unsigned, 16>, 4>;
struct GroupProduct {
    float *sums;
    int count, lane;
    WarpGroupOperand a, b;
    void (*multiply)(const GroupProduct &, float *);
    const unsigned *registers = nullptr;
    RegisterRows rows = {};
};

// A copy of a box, of which `to` gets `size` bytes; what such copies land at, in its present turn: how many are
// still to come, the bytes that are expected and those that have begun.
struct BulkCopy { char *to; const CUtensorMap *map; uint64_t size; int at[5]; };
struct Signal {
    unsigned arrivals, pending, turn, maker;
    bool fenced;
    uint64_t expected, begun;
    std::vector<BulkCopy> copies;
    std::vector<Thread *> waiting;
    char arrival;  // an address for ThreadSanitizer
};

struct Thread {
    uint3 index;
    unsigned linear, lane, position;  // position: its place in the order of turns
    Warp *warp;
    bool done;
    const char *waits_for;
    int line;
    char *stack;
    void *stack_pointer, *fake_stack, *tsan;
    std::vector<Copy> copies;            // asynchronous, not yet committed
    std::vector<std::vector<Copy>> groups;  // committed, not yet waited for
    std::vector<GroupProduct> products;                     // asynchronous, not yet committed
    std::vector<std::vector<GroupProduct>> product_groups;  // committed, not yet waited for
    std::map<float *, std::vector<float>> sums;             // of these, as they come to be
    bool fenced_registers, fenced_stores;
    char woken;                          // an address for ThreadSanitizer
    int votes;                           // the result of __syncthreads_count and its like
#if defined(CUDA_ON_CPU_UCONTEXT)
    ucontext_t context;
#endif
};

struct Launch {
    dim3 grid, block;
    size_t dynamic_shared;
    const char *kernel;
    void (*entry)(void *);
    void *argument;
};

inline Launch launch;
inline uint3 block_index;
inline std::vector<Thread> threads;
inline std::vector<char *> stacks;
inline std::vector<unsigned> turns;              // thread numbers by position
inline uint64_t ready[MAX_THREADS / 64];         // by position
inline unsigned live;                            // threads of the block that have not returned
inline Thread *current = nullptr;                // nullptr: the host
inline std::vector<void *> tsan_fibers;
inline std::vector<char> tsan_ended;  // fibers whose last thread ended, where nobody looks since then
inline void *host_stack_pointer, *host_fake_stack, *host_tsan;
inline const void *host_stack;
inline size_t host_stack_size;
inline char launched, returned;                  // addresses for ThreadSanitizer
inline char *dynamic_shared_memory = nullptr;
inline std::map<void *, Signal> signals;         // by their place in shared memory
inline std::vector<char> seen_shared;            // what asynchronous products see of shared memory

[[noreturn]] inline void fail(const std::string &what)
{
    fflush(stdout);
    fprintf(stderr, "cuda_on_cpu: %s", what.c_str());
    if (launch.kernel)
        fprintf(stderr, " in block (%u,%u,%u)", block_index.x, block_index.y, block_index.z);
    if (current)
        fprintf(stderr, ", thread (%u,%u,%u)", current->index.x, current->index.y, current->index.z);
    fprintf(stderr, "%s%s\n", launch.kernel ? " of " : "", launch.kernel ? launch.kernel : "");
    abort();
}

// What one thread did before `release` has happened before what another does after `acquire`.
inline void release(char *at)
{
    (void)at;
#if defined(__SANITIZE_THREAD__)
    __tsan_release(at);
#endif
}

inline void acquire(char *at)
{
    (void)at;
#if defined(__SANITIZE_THREAD__)
    __tsan_acquire(at);
#endif
}

// While one lives, ThreadSanitizer does not look: what this file and its neighbours do is not CUDA.
struct Quiet {
#if defined(__SANITIZE_THREAD__)
    Quiet() { AnnotateIgnoreReadsBegin(__FILE__, __LINE__), AnnotateIgnoreWritesBegin(__FILE__, __LINE__); }
    ~Quiet() { AnnotateIgnoreReadsEnd(__FILE__, __LINE__), AnnotateIgnoreWritesEnd(__FILE__, __LINE__); }
#else
    Quiet() {}
#endif
};

// --- changing over -----------------------------------------------------------------------------

#if defined(CUDA_ON_CPU_UCONTEXT)
inline ucontext_t host_context;

inline void prepare(Thread *thread, void (*begin)())
{
    getcontext(&thread->context);
    thread->context.uc_stack.ss_sp = thread->stack;
    thread->context.uc_stack.ss_size = STACK;
    thread->context.uc_link = nullptr;
    makecontext(&thread->context, begin, 0);
}

inline void jump(Thread *from, Thread *to)
{
    swapcontext(from ? &from->context : &host_context, to ? &to->context : &host_context);
}
#else
// System V: pushes the registers that a call preserves and swaps stacks. ucontext works everywhere but
// makes a system call at each change.
extern "C" void cuda_on_cpu_switch(void **save, void *to);
__asm__(".text\n.weak cuda_on_cpu_switch\n.hidden cuda_on_cpu_switch\n"
        ".type cuda_on_cpu_switch,@function\ncuda_on_cpu_switch:\n"
        "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
        "mov %rsp,(%rdi)\nmov %rsi,%rsp\n"
        "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n"
        ".size cuda_on_cpu_switch,.-cuda_on_cpu_switch\n");

inline void prepare(Thread *thread, void (*begin)())
{
    void **top = reinterpret_cast<void **>(thread->stack + STACK);
    *--top = nullptr;  // where a return address would be: rsp % 16 == 8 on entry
    *--top = reinterpret_cast<void *>(begin);
    thread->stack_pointer = top - 6;
}

inline void jump(Thread *from, Thread *to)
{
    cuda_on_cpu_switch(
        from ? &from->stack_pointer : &host_stack_pointer,
        to ? to->stack_pointer : host_stack_pointer);
}
#endif

// Leaves `from` (nullptr: the host) for `to`.
inline void change(Thread *from, Thread *to)
{
    current = to;
#if defined(__SANITIZE_ADDRESS__)
    void **fake = !from ? &host_fake_stack : from->done ? nullptr : &from->fake_stack;
    __sanitizer_start_switch_fiber(
        fake, to ? to->stack : host_stack, to ? STACK : host_stack_size);
#endif
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(to ? to->tsan : host_tsan, __tsan_switch_to_fiber_no_sync);
#endif
    jump(from, to);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(from ? from->fake_stack : host_fake_stack, nullptr, nullptr);
#endif
}

// --- turns -------------------------------------------------------------------------------------

inline void set_ready(Thread *thread) { ready[thread->position / 64] |= 1ull << thread->position % 64; }

inline void set_waiting(Thread *thread)
{
    ready[thread->position / 64] &= ~(1ull << thread->position % 64);
}

inline Thread *first_ready()
{
    for (unsigned word = 0; word * 64 < threads.size(); word++)
        if (ready[word])
            return &threads[turns[word * 64 + __builtin_ctzll(ready[word])]];
    return nullptr;
}

[[noreturn]] inline void deadlock()
{
    std::string what = "threads wait for each other for ever:";
    const char *shown = nullptr;
    int line = -1;
    for (const Thread &thread : threads)
        if (!thread.done && (thread.waits_for != shown || thread.line != line)) {
            shown = thread.waits_for, line = thread.line;
            what += std::string(" thread ") + std::to_string(thread.linear) + " at " + shown;
            what += line ? " of line " + std::to_string(line) + ";" : ";";
            if (what.size() > 400)
                break;
        }
    current = nullptr;
    fail(what.substr(0, what.size() - 1));
}

// Lets whoever is first in the order go on; returns when it is this thread's turn.
inline void give_turn()
{
    Thread *me = current, *next = first_ready();
    if (!next)
        deadlock();
    if (next != me)
        change(me, next);
}

// Until another thread, or this one, has called `wake` for it; `set_waiting` comes before. `orders`: what
// was done before the one happens before what is done after the other.
inline void wait(const char *what, int line, bool orders = true)
{
    Thread *me = current;
    me->waits_for = what, me->line = line;
    give_turn();
    me->waits_for = nullptr;
    if (orders)
        acquire(&me->woken);
}

inline void wake(Thread *thread, bool orders = true)
{
    if (orders)
        release(&thread->woken);
    set_ready(thread);
}

// In which order things have their turn: as CUDA_ON_CPU_ORDER says.
inline std::vector<unsigned> order_of(size_t count, unsigned salt)
{
    std::vector<unsigned> order(count);
    for (size_t i = 0; i < count; i++)
        order[i] = static_cast<unsigned>(i);
    const char *wanted = getenv("CUDA_ON_CPU_ORDER");
    if (!wanted || !*wanted || !strcmp(wanted, "forward"))
        return order;
    if (!strcmp(wanted, "backward")) {
        std::reverse(order.begin(), order.end());
        return order;
    }
    uint64_t state = (static_cast<uint64_t>(atoi(wanted)) << 32) + salt;
    for (size_t i = count; i > 1; i--) {
        state = state * 6364136223846793005u + 1442695040888963407u;  // Knuth, MMIX
        std::swap(order[i - 1], order[(state >> 33) % i]);
    }
    return order;
}

}  // namespace cuda_on_cpu

#define threadIdx (cuda_on_cpu::current->index)
#define blockIdx (cuda_on_cpu::block_index)
#define blockDim (cuda_on_cpu::launch.block)
#define gridDim (cuda_on_cpu::launch.grid)
constexpr int warpSize = 32;
