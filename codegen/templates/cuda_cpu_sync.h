// Where threads wait for each other: barriers of a block, meetings of the lanes of a warp, and what
// lanes exchange there. The last to arrive does the work for all.
#pragma once
#include <type_traits>

namespace cuda_on_cpu __attribute__((visibility("hidden"))) {

constexpr unsigned FULL = 0xffffffffu;

struct Barrier {
    const char *what;
    int line;
    unsigned expected;  // 0: all threads that have not returned
    int votes;
    std::vector<Thread *> waiting;
    char arrival;  // an address for ThreadSanitizer
};

struct Meeting {
    const char *what;  // nullptr: free
    int line;
    unsigned mask, arrived;
    void (*perform)(void **, unsigned);
    void *requests[WARP];
    bool orders;  // what was stored before is seen after
    char arrival;
};

struct Warp {
    unsigned live;  // one bit for each lane that has not returned
    Meeting meetings[WARP];
};

inline Barrier barriers[16];
inline std::vector<Warp> warps;

inline std::string at_line(const char *what, int line)
{
    return std::string(what) + (line ? " of line " + std::to_string(line) : "");
}

// --- barriers ----------------------------------------------------------------------------------

inline void look_at_shared_memory();

// Asynchronous products see what was stored before a barrier of the block that all came to behind a fence.
inline void note_fences(const Barrier &barrier)
{
    bool fenced = &barrier == &barriers[0];
    for (Thread *thread : barrier.waiting) {
        fenced = fenced && thread->fenced_stores;
        thread->fenced_stores = false;
    }
    if (fenced)
        look_at_shared_memory();
}

inline void finish(Barrier &barrier)
{
    if (barrier.waiting.empty() || barrier.waiting.size() < (barrier.expected ? barrier.expected : live))
        return;
    acquire(&barrier.arrival);
    note_fences(barrier);
    for (Thread *thread : barrier.waiting) {
        thread->votes = barrier.votes;
        wake(thread);
    }
    barrier.waiting.clear();
    barrier.votes = 0;
}

inline int pass(int number, const char *what, int line, unsigned expected, int vote)
{
    Quiet quiet;
    Barrier &barrier = barriers[number];
    if (!barrier.waiting.empty() && (barrier.line != line || barrier.what != what) && !number)
        fail("threads of one block meet at " + at_line(barrier.what, barrier.line) + " and " +
             at_line(what, line));
    barrier.what = what, barrier.line = line, barrier.expected = expected;
    barrier.votes += vote;
    barrier.waiting.push_back(current);
    release(&barrier.arrival);
    set_waiting(current);
    finish(barrier);
    wait(what, line);
    return current->votes;
}

// --- meetings ----------------------------------------------------------------------------------

// Whether all lanes of the mask are there. If so they all go on.
inline void finish(Meeting &meeting, Warp &warp)
{
    if (!meeting.what || meeting.arrived != (meeting.mask & warp.live))
        return;
    if (meeting.orders)
        acquire(&meeting.arrival);
    if (meeting.perform)
        meeting.perform(meeting.requests, meeting.arrived);
    Thread *lanes = &threads[(&warp - warps.data()) * WARP];
    for (unsigned lane = 0; lane < WARP; lane++)
        if (meeting.arrived >> lane & 1)
            wake(&lanes[lane], meeting.orders);
    meeting.what = nullptr;
}

inline Meeting &meeting_of(Warp &warp, unsigned mask, const char *what)
{
    Meeting *free = nullptr;
    for (Meeting &meeting : warp.meetings)
        if (!meeting.what)
            free = free ? free : &meeting;
        else if (meeting.mask == mask && !(meeting.arrived >> current->lane & 1))
            return meeting;
    free->what = what, free->line = -1, free->mask = mask, free->arrived = 0;
    return *free;
}

// Waits until all lanes of `mask` are there; `perform` then sees what each has brought. Without `orders`, as at
// matrix operations, they do not see what others stored before: that takes a barrier.
inline void meet(
    unsigned mask, const char *what, int line, void (*perform)(void **, unsigned), void *request,
    bool orders = true)
{
    Quiet quiet;
    Warp &warp = *current->warp;
    if (!(mask >> current->lane & 1))
        fail(at_line(what, line) + ": the mask leaves out the lane that calls it");
    Meeting &meeting = meeting_of(warp, mask, what);
    if (meeting.line == -1)
        meeting.line = line, meeting.perform = perform, meeting.orders = orders;
    else if (meeting.perform != perform || (perform && meeting.line != line))
        fail("lanes of one warp meet at " + at_line(meeting.what, meeting.line) + " and " +
             at_line(what, line));
    meeting.requests[current->lane] = request;
    meeting.arrived |= 1u << current->lane;
    if (orders)
        release(&meeting.arrival);
    set_waiting(current);
    finish(meeting, warp);
    wait(what, line, orders);
}

inline void all_there(void **, unsigned present)
{
    if (present != FULL)
        fail("a matrix operation needs all 32 lanes");
}

// --- shuffles and votes ------------------------------------------------------------------------

template <class T>
struct Exchanged {
    T value;
    unsigned source;
    T received;
};

template <class T>
void exchange(void **requests, unsigned present)
{
    for (unsigned lane = 0; lane < WARP; lane++)
        if (present >> lane & 1) {
            auto *mine = static_cast<Exchanged<T> *>(requests[lane]);
            if (!(present >> mine->source & 1))
                fail("a shuffle reads lane " + std::to_string(mine->source) + ", which takes no part");
            mine->received = static_cast<Exchanged<T> *>(requests[mine->source])->value;
        }
}

template <class T>
T shuffled(unsigned mask, T value, int source, int width, const char *what, int line)
{
    static_assert(sizeof(T) <= 8 && !std::is_pointer<T>::value, "CUDA shuffles at most 8 bytes");
    if (width < 1 || width > 32 || width & (width - 1))
        fail(at_line(what, line) + ": the width is no power of two up to 32");
    Exchanged<T> mine = {value, static_cast<unsigned>(source), value};
    meet(mask, what, line, exchange<T>, &mine);
    return mine.received;
}

// What all lanes that take part bring; `present` has their bits.
struct Voted {
    unsigned value, present;
    unsigned values[WARP];
};

inline void gather_votes(void **requests, unsigned present)
{
    for (unsigned lane = 0; lane < WARP; lane++)
        if (present >> lane & 1) {
            auto *mine = static_cast<Voted *>(requests[lane]);
            mine->present = present;
            for (unsigned from = 0; from < WARP; from++)
                if (present >> from & 1)
                    mine->values[from] = static_cast<Voted *>(requests[from])->value;
        }
}

inline Voted votes(unsigned mask, unsigned value, const char *what, int line)
{
    Voted mine;
    mine.value = value;
    meet(mask, what, line, gather_votes, &mine);
    return mine;
}

template <class F>
unsigned reduced(unsigned mask, unsigned value, F combine, const char *what, int line)
{
    const Voted all = votes(mask, value, what, line);
    unsigned lane = __builtin_ctz(all.present), result = all.values[lane];
    while (++lane < WARP)
        if (all.present >> lane & 1)
            result = combine(result, all.values[lane]);
    return result;
}

}  // namespace cuda_on_cpu

#define CUDA_CPU_LINE int line = __builtin_LINE()

inline void __syncthreads(CUDA_CPU_LINE) { cuda_on_cpu::pass(0, "__syncthreads", line, 0, 0); }

inline int __syncthreads_count(int p, CUDA_CPU_LINE)
{
    return cuda_on_cpu::pass(0, "__syncthreads_count", line, 0, p != 0);
}

inline int __syncthreads_or(int p, CUDA_CPU_LINE)
{
    return cuda_on_cpu::pass(0, "__syncthreads_or", line, 0, p != 0) != 0;
}

inline int __syncthreads_and(int p, CUDA_CPU_LINE)
{
    return cuda_on_cpu::pass(0, "__syncthreads_and", line, 0, p == 0) == 0;
}

inline void __syncwarp(unsigned mask = cuda_on_cpu::FULL, CUDA_CPU_LINE)
{
    cuda_on_cpu::meet(mask, "__syncwarp", line, nullptr, nullptr);
}

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32, CUDA_CPU_LINE)
{
    const int lane = cuda_on_cpu::current->lane;
    const int from = (lane & ~(width - 1)) | (source & (width - 1));
    return cuda_on_cpu::shuffled(mask, value, from, width, "__shfl_sync", line);
}

template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, CUDA_CPU_LINE)
{
    const int lane = cuda_on_cpu::current->lane, from = lane - static_cast<int>(delta);
    const int first = lane & ~(width - 1);
    return cuda_on_cpu::shuffled(mask, value, from < first ? lane : from, width, "__shfl_up_sync", line);
}

template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, CUDA_CPU_LINE)
{
    const int lane = cuda_on_cpu::current->lane, from = lane + static_cast<int>(delta);
    const int last = lane | (width - 1);
    return cuda_on_cpu::shuffled(mask, value, from > last ? lane : from, width, "__shfl_down_sync", line);
}

// A lane of an earlier segment may be read, one of a later segment not (PTX ISA, shfl.sync.bfly).
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32, CUDA_CPU_LINE)
{
    const int lane = cuda_on_cpu::current->lane, from = lane ^ bits;
    const int last = lane | (width - 1);
    return cuda_on_cpu::shuffled(mask, value, from > last ? lane : from, width, "__shfl_xor_sync", line);
}

inline unsigned __ballot_sync(unsigned mask, int p, CUDA_CPU_LINE)
{
    const unsigned mine = p ? 1u << cuda_on_cpu::current->lane : 0;
    return cuda_on_cpu::reduced(
        mask, mine, [](unsigned a, unsigned b) { return a | b; }, "__ballot_sync", line);
}

inline int __any_sync(unsigned mask, int p, CUDA_CPU_LINE)
{
    return cuda_on_cpu::reduced(
        mask, p != 0, [](unsigned a, unsigned b) { return a | b; }, "__any_sync", line);
}

inline int __all_sync(unsigned mask, int p, CUDA_CPU_LINE)
{
    return cuda_on_cpu::reduced(
        mask, p != 0, [](unsigned a, unsigned b) { return a & b; }, "__all_sync", line);
}

template <class T>
unsigned __match_any_sync(unsigned mask, T value, CUDA_CPU_LINE)
{
    static_assert(sizeof(T) == 4, "only 4-byte values are simulated");
    unsigned bits, equal = 0;
    memcpy(&bits, &value, 4);
    const cuda_on_cpu::Voted all = cuda_on_cpu::votes(mask, bits, "__match_any_sync", line);
    for (unsigned lane = 0; lane < 32; lane++)
        if (all.present >> lane & 1 && all.values[lane] == bits)
            equal |= 1u << lane;
    return equal;
}

#define CUDA_CPU_REDUCE(T, NAME, RESULT) \
    inline T NAME(unsigned mask, T value, CUDA_CPU_LINE) \
    { \
        return static_cast<T>(cuda_on_cpu::reduced( \
            mask, static_cast<unsigned>(value), \
            [](unsigned x, unsigned y) { \
                const T a = static_cast<T>(x), b = static_cast<T>(y); \
                return static_cast<unsigned>(RESULT); \
            }, \
            #NAME, line)); \
    }
CUDA_CPU_REDUCE(unsigned, __reduce_add_sync, a + b)
CUDA_CPU_REDUCE(unsigned, __reduce_min_sync, a < b ? a : b)
CUDA_CPU_REDUCE(unsigned, __reduce_max_sync, a < b ? b : a)
CUDA_CPU_REDUCE(unsigned, __reduce_and_sync, a & b)
CUDA_CPU_REDUCE(unsigned, __reduce_or_sync, a | b)
CUDA_CPU_REDUCE(unsigned, __reduce_xor_sync, a ^ b)
CUDA_CPU_REDUCE(int, __reduce_min_sync, a < b ? a : b)
CUDA_CPU_REDUCE(int, __reduce_max_sync, a < b ? b : a)
inline int __reduce_add_sync(unsigned mask, int value, CUDA_CPU_LINE)
{
    return static_cast<int>(__reduce_add_sync(mask, static_cast<unsigned>(value), line));
}

// The lanes that happen to run together: any set with this one would do, so code must not rely on more.
inline unsigned __activemask() { return 1u << cuda_on_cpu::current->lane; }

inline void __threadfence() {}
inline void __threadfence_block() {}
