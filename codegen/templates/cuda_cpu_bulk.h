// Signals in shared memory (PTX ISA, "mbarrier") and copies in bulk of boxes of arrays, which tensor maps describe
// ("cp.async.bulk.tensor", swizzled by 128 bytes). Twins of the functions of cuda_ptx.h and of the driver's. The
// destination holds garbage from the issue of a copy until somebody waits for the turn that it is of.
#pragma once

typedef uint64_t cuuint64_t;
typedef uint32_t cuuint32_t;
enum CUresult { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1 };
enum CUtensorMapDataType {
    CU_TENSOR_MAP_DATA_TYPE_UINT8, CU_TENSOR_MAP_DATA_TYPE_UINT16, CU_TENSOR_MAP_DATA_TYPE_UINT32,
    CU_TENSOR_MAP_DATA_TYPE_INT32, CU_TENSOR_MAP_DATA_TYPE_UINT64, CU_TENSOR_MAP_DATA_TYPE_INT64,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT16, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
    CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
};
enum CUtensorMapInterleave { CU_TENSOR_MAP_INTERLEAVE_NONE };
enum CUtensorMapSwizzle { CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_128B = 3 };
enum CUtensorMapL2promotion { CU_TENSOR_MAP_L2_PROMOTION_L2_256B = 3 };
enum CUtensorMapFloatOOBfill { CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE };
struct CUtensorMap {
    const char *data;
    uint64_t extents[5], strides[5];  // of an element the stride is its size
    uint32_t box[5], rank, size;
};

#define CUDART_VERSION 13000
enum cudaDriverEntryPointQueryResult { cudaDriverEntryPointSuccess, cudaDriverEntryPointSymbolNotFound };
enum { cudaEnableDefault };

// The limits are those that the driver's documentation states.
inline CUresult cuTensorMapEncodeTiled(
    CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *data, const cuuint64_t *extents,
    const cuuint64_t *strides, const cuuint32_t *box, const cuuint32_t *steps, CUtensorMapInterleave,
    CUtensorMapSwizzle swizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill)
{
    const uint32_t sizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2};
    const uint32_t size = sizes[type];
    if (rank < 1 || rank > 5 || reinterpret_cast<uintptr_t>(data) % 16 || swizzle != CU_TENSOR_MAP_SWIZZLE_128B)
        return CUDA_ERROR_INVALID_VALUE;
    *map = {static_cast<const char *>(data), {}, {}, {}, rank, size};
    for (uint32_t d = 0; d < rank; d++) {
        map->extents[d] = extents[d], map->box[d] = box[d], map->strides[d] = d ? strides[d - 1] : size;
        if (!extents[d] || extents[d] > 1ull << 32 || !box[d] || box[d] > 256 || steps[d] != 1)
            return CUDA_ERROR_INVALID_VALUE;
        if (d && (strides[d - 1] % 16 || strides[d - 1] >= 1ull << 40))
            return CUDA_ERROR_INVALID_VALUE;
    }
    return box[0] * size > 128 || box[0] * size % 16 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

inline cudaError_t cudaGetDriverEntryPointByVersion(
    const char *, void **found, unsigned, unsigned long long, cudaDriverEntryPointQueryResult *result)
{
    *found = reinterpret_cast<void *>(cuTensorMapEncodeTiled);
    *result = cudaDriverEntryPointSuccess;
    return cudaSuccess;
}

namespace cuda_on_cpu __attribute__((visibility("hidden"))) {

inline Signal &signal_at(void *at, const char *what, int line)
{
    const auto found = signals.find(at);
    if (found == signals.end())
        fail(at_line(what, line) + ": there is no signal at this place: mbarrier.init has not been done");
    return found->second;
}

// What asynchronous products see of some bytes is what is there.
inline void see(char *at, size_t size)
{
    const size_t fixed = __start_cuda_shared ? __stop_cuda_shared - __start_cuda_shared : 0;
    seen_shared.resize(fixed + launch.dynamic_shared);
    const bool dynamic = dynamic_shared_memory && at >= dynamic_shared_memory &&
        at < dynamic_shared_memory + launch.dynamic_shared;
    const size_t place = dynamic ? fixed + (at - dynamic_shared_memory) : at - __start_cuda_shared;
    memcpy(seen_shared.data() + place, at, size);
}

// Units of 16 bytes, row by row of the box; zeros beyond the array. Address bits 7 to 9 are added to bits 4 to 6.
inline void land(const BulkCopy &copy)
{
    const CUtensorMap &map = *copy.map;
    const uint64_t row = map.box[0] * map.size;
    for (uint64_t n = 0; n < copy.size / map.size; n++) {
        uint64_t rest = n;
        const char *from = map.data;
        bool inside = true;
        for (uint32_t d = 0; d < map.rank; d++) {
            const int64_t at = copy.at[d] + static_cast<int64_t>(rest % map.box[d]);
            rest /= map.box[d];
            inside = inside && at >= 0 && at < static_cast<int64_t>(map.extents[d]);
            from += at * static_cast<int64_t>(map.strides[d]);
        }
        const uint64_t place = reinterpret_cast<uint64_t>(copy.to) + n * map.size / row * 128 + n * map.size % row;
        char *to = reinterpret_cast<char *>(place ^ (place >> 3 & 0x70));
        inside ? static_cast<void>(memcpy(to, from, map.size)) : static_cast<void>(memset(to, 0, map.size));
    }
    see(copy.to, copy.size);
}

inline void begin_signal(void *at, unsigned arrivals, int line)
{
    Quiet quiet;
    if (!is_shared(at) || reinterpret_cast<uintptr_t>(at) % 8 || !arrivals)
        fail(at_line("mbarrier.init", line) + ": 8 aligned bytes of shared memory, and somebody who comes");
    if (signals.count(at))
        fail(at_line("mbarrier.init", line) + ": there is a signal at this place: mbarrier.inval ends it");
    Signal made = {};
    made.arrivals = made.pending = arrivals, made.maker = current->linear;
    signals[at] = made;
}

inline void end_signal(void *at, int line)
{
    Quiet quiet;
    const Signal &signal = signal_at(at, "mbarrier.inval", line);
    if (!signal.copies.empty() || !signal.waiting.empty())
        fail(at_line("mbarrier.inval", line) + ": copies are under way, or somebody waits");
    signals.erase(at);
}

inline bool is_over(const Signal &signal) { return !signal.pending && signal.expected == signal.begun; }

inline void wake_all(Signal &signal)
{
    for (Thread *thread : signal.waiting)
        wake(thread);
    signal.waiting.clear();
}

inline void come_to_signal(void *at, unsigned bytes, int line)
{
    Quiet quiet;
    Signal &signal = signal_at(at, "mbarrier.arrive", line);
    if (!signal.pending)
        fail(at_line("mbarrier.arrive", line) + ": more threads come to a signal than it expects in a turn");
    signal.pending--, signal.expected += bytes;
    release(&signal.arrival);
    if (is_over(signal))
        wake_all(signal);
}

// Of two turns next to each other one has this parity: a wait for the one that is over is none.
inline void wait_at_signal(void *at, unsigned parity, int line)
{
    Quiet quiet;
    for (;;) {
        Signal &signal = signal_at(at, "mbarrier.try_wait", line);
        if ((signal.turn & 1) != parity) {
            acquire(&signal.arrival);
            return;
        }
        if (is_over(signal)) {
            for (const BulkCopy &copy : signal.copies)
                land(copy);
            signal.copies.clear();
            signal.turn++, signal.pending = signal.arrivals, signal.expected = signal.begun = 0;
            wake_all(signal);
            continue;
        }
        signal.waiting.push_back(current);
        set_waiting(current);
        wait("mbarrier.try_wait", line);
    }
}

inline void copy_in_bulk(void *to, const CUtensorMap &map, void *at, std::vector<int> place, int line)
{
    Quiet quiet;
    Signal &signal = signal_at(at, "cp.async.bulk.tensor", line);
    if (!signal.fenced)
        fail(at_line("cp.async.bulk.tensor", line) + ": no fence between mbarrier.init and the copy");
    uint64_t rows = 1;
    for (uint32_t d = 1; d < map.rank; d++)
        rows *= map.box[d];
    const uint64_t size = rows * map.box[0] * map.size;
    char *first = static_cast<char *>(to);
    if (place.size() != map.rank || map.box[0] * map.size != 128)
        fail(at_line("cp.async.bulk.tensor", line) + ": the map is of another array, or of rows without swizzle");
    if (!is_shared(first) || !is_shared(first + size - 1) || reinterpret_cast<uintptr_t>(to) % 128)
        fail(at_line("cp.async.bulk.tensor", line) + ": the box does not lie in shared memory, aligned to 128");
    place.resize(5);
    BulkCopy copy = {first, &map, size, {}};
    std::copy(place.begin(), place.end(), copy.at);
    poison(first, size);
    see(first, size);
    signal.copies.push_back(copy);
    signal.begun += size;
    if (is_over(signal))
        wake_all(signal);
}

// At the end of a block.
inline void refuse_under_way()
{
    for (const auto &one : signals)
        if (!one.second.copies.empty())
            fail("a block ends with copies in bulk under way");
    signals.clear();
}

inline void fence_signals()
{
    for (auto &one : signals)
        if (one.second.maker == current->linear)
            one.second.fenced = true;
}

}  // namespace cuda_on_cpu

inline int ptx_warp() { return cuda_on_cpu::current->linear / cuda_on_cpu::WARP; }

inline bool ptx_elected(CUDA_CPU_LINE)
{
    cuda_on_cpu::meet(cuda_on_cpu::FULL, "elect.sync", line, cuda_on_cpu::all_there, nullptr, false);
    return cuda_on_cpu::current->lane == 0;
}

inline void ptx_signal_begin(void *signal, unsigned arrivals, CUDA_CPU_LINE)
{
    cuda_on_cpu::begin_signal(signal, arrivals, line);
}

inline void ptx_signal_end(void *signal, CUDA_CPU_LINE) { cuda_on_cpu::end_signal(signal, line); }

inline void ptx_signal_expect(void *signal, unsigned bytes, CUDA_CPU_LINE)
{
    cuda_on_cpu::come_to_signal(signal, bytes, line);
}

inline void ptx_signal_wait(void *signal, unsigned turn, CUDA_CPU_LINE)
{
    cuda_on_cpu::wait_at_signal(signal, turn & 1, line);
}

template <class... At>
void ptx_bulk_copy(void *to, const CUtensorMap &map, void *signal, At... at)
{
    cuda_on_cpu::copy_in_bulk(to, map, signal, {at...}, 0);
}
