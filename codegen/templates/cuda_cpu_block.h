// Running a kernel: the blocks of a grid one after the other, each with all its threads.
#pragma once

extern "C" char __start_cuda_shared[] __attribute__((weak, visibility("hidden")));
extern "C" char __stop_cuda_shared[] __attribute__((weak, visibility("hidden")));

namespace cuda_on_cpu __attribute__((visibility("hidden"))) {

inline void refuse_under_way();

// Garbage that is no number as float, half and bfloat16, and unlikely as an integer. Redzones are
// written too, so no sanitizer may look.
__attribute__((no_sanitize("address", "thread"), noinline)) inline void poison(void *at, size_t size)
{
    static const unsigned char garbage[] = {0xa5, 0xff};
    volatile unsigned char *bytes = static_cast<volatile unsigned char *>(at);
    for (size_t i = 0; i < size; i++)
        bytes[i] = garbage[i % 2];
}

inline void end_thread()
{
    Quiet quiet;
    Thread *me = current;
#if defined(__SANITIZE_THREAD__)
    tsan_ended[me->linear] = 1;
#endif
    for (const auto &group : me->groups)
        if (!group.empty())
            fail("a thread returns with asynchronous copies under way");
    if (!me->copies.empty())
        fail("a thread returns with asynchronous copies under way");
    if (!me->sums.empty() || !me->products.empty())
        fail("a thread returns with asynchronous products under way");
    me->done = true;
    me->warp->live &= ~(1u << me->lane);
    live--;
    release(&returned);
    set_waiting(me);
    if (live)
        for (Barrier &barrier : barriers)
            if (!barrier.expected)
                finish(barrier);
    for (Meeting &meeting : me->warp->meetings)
        finish(meeting, *me->warp);
    if (live)
        give_turn();
    else
        change(me, nullptr);
    abort();
}

inline void begin_thread()
{
#if defined(__SANITIZE_ADDRESS__)
    const void *stack;
    size_t size;
    __sanitizer_finish_switch_fiber(nullptr, &stack, &size);
    if (!host_stack)
        host_stack = stack, host_stack_size = size;
#endif
#if defined(__SANITIZE_THREAD__)
    if (tsan_ended[current->linear]) {
        AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
        AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    }
#endif
    acquire(&launched);
    launch.entry(launch.argument);
    end_thread();
}

inline char *stack_of(size_t number)
{
    while (stacks.size() <= number) {
        void *made = mmap(
            nullptr, STACK + GUARD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (made == MAP_FAILED)
            fail("no memory for the stacks of a block");
        mprotect(made, GUARD, PROT_NONE);
        stacks.push_back(static_cast<char *>(made) + GUARD);
    }
    return stacks[number];
}

inline void begin_block(unsigned count, unsigned salt)
{
    threads.resize(count);
    warps.resize((count + WARP - 1) / WARP);
    for (Warp &warp : warps) {
        warp.live = 0;
        for (Meeting &meeting : warp.meetings)
            meeting.what = nullptr;
    }
    for (Barrier &barrier : barriers)
        barrier.waiting.clear(), barrier.votes = 0, barrier.expected = 0;
    turns = order_of(count, salt);
    memset(ready, 0, sizeof ready);
    for (unsigned position = 0; position < count; position++)
        threads[turns[position]].position = position;
    live = count;
    for (unsigned i = 0; i < count; i++) {
        Thread &thread = threads[i];
        const unsigned x = launch.block.x, y = launch.block.y;
        thread.index = {i % x, i / x % y, i / (x * y)};
        thread.linear = i, thread.lane = i % WARP, thread.warp = &warps[i / WARP];
        thread.warp->live |= 1u << thread.lane;
        thread.done = false, thread.waits_for = nullptr;
        thread.copies.clear(), thread.groups.clear();
        thread.products.clear(), thread.product_groups.clear(), thread.sums.clear();
        thread.fenced_registers = thread.fenced_stores = false;
        thread.stack = stack_of(i);
#if defined(__SANITIZE_ADDRESS__)
        __asan_unpoison_memory_region(thread.stack, STACK);
#endif
#if defined(__SANITIZE_THREAD__)
        while (tsan_fibers.size() <= i)
            tsan_fibers.push_back(__tsan_create_fiber(0)), tsan_ended.push_back(0);
        thread.tsan = tsan_fibers[i];
#endif
        prepare(&thread, begin_thread);
        set_ready(&thread);
    }
}

// Blocks are independent: they run in any order, each with shared memory that holds garbage.
inline void run_grid()
{
    Quiet quiet;
    const dim3 grid = launch.grid;
    const size_t blocks = static_cast<size_t>(grid.x) * grid.y * grid.z;
    const unsigned count = launch.block.x * launch.block.y * launch.block.z;
    void *made = nullptr;
    if (posix_memalign(&made, 1024, launch.dynamic_shared))
        fail("no memory for the shared memory of a block");
    dynamic_shared_memory = static_cast<char *>(made);
    host_stack = nullptr;
#if defined(__SANITIZE_THREAD__)
    host_tsan = __tsan_get_current_fiber();
#endif
    const std::vector<unsigned> order = order_of(blocks, 0);
    for (size_t i = 0; i < blocks; i++) {
        const unsigned block = order[i];
        block_index = {block % grid.x, block / grid.x % grid.y, block / (grid.x * grid.y)};
        poison(dynamic_shared_memory, launch.dynamic_shared);
        if (__start_cuda_shared)
            poison(__start_cuda_shared, __stop_cuda_shared - __start_cuda_shared);
        seen_shared.clear();
        begin_block(count, block + 1);
        release(&launched);
        change(nullptr, first_ready());
        acquire(&returned);
        refuse_under_way();
    }
    free(dynamic_shared_memory);
    dynamic_shared_memory = nullptr;
    launch.kernel = nullptr;
}

}  // namespace cuda_on_cpu
