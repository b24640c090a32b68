// Measures what the instructions cost that move data between the registers of a warp's threads, and prints
// a table for synth/results/costs/: clocks of a multiprocessor for one of many independent ones.
//
//     warp_costs [turns]        exit codes: 1 where CUDA fails, 4 without a GPU
//
// Four blocks of 256 threads keep a multiprocessor busy; every thread has eight chains of dependent
// instructions, so that no latency shows. A block's clocks are its multiprocessor's: of all blocks of one
// the first begin and the last end count. On the CPU (CUDA_ON_CPU) the clock means nothing.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#ifndef ROUNDS
#define ROUNDS 32  // times the chains stand in the body of the loop
#endif

constexpr int CHAINS = 8, WARP = 32, THREADS = 256, BLOCKS = 4;
constexpr int WORDS = 1024;    // of shared memory: one for each lane at the largest stride
constexpr int SECTOR = 8;      // words of 4 bytes in a sector of 32
constexpr int LONGEST = WARP * SECTOR;

#define DO(CALL)                                                                            \
    do {                                                                                    \
        const cudaError_t status = (CALL);                                                  \
        if (status != cudaSuccess) {                                                        \
            std::fprintf(stderr, "warp_costs: %s\n", cudaGetErrorString(status));           \
            return 1;                                                                       \
        }                                                                                   \
    } while (0)

struct Span {
    long long began, ended;
    unsigned processor;
};

// What a thread has. The compiler does not know the values, so that it cannot leave anything out.
struct Thread {
    unsigned x[CHAINS];
    unsigned lane, one, other;
    volatile unsigned *shared;
    const unsigned *global;
};

__device__ unsigned processor()
{
#ifdef CUDA_ON_CPU
    return 0;
#else
    unsigned number;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
    return number;
#endif
}

// One instruction for each chain: `step` is done ROUNDS times a turn. `stride`: of its addresses, in words.
struct Shuffle {
    static __device__ void step(Thread &t, unsigned)
    {
        for (unsigned &x : t.x)
            x = __shfl_sync(0xffffffffu, x, static_cast<int>(t.lane));
    }
};

struct Select {
    static __device__ void step(Thread &t, unsigned bits)
    {
        for (int k = 0; k < CHAINS; k++)
            t.x[k] = bits >> k & 1 ? t.x[k] : t.x[(k + 1) % CHAINS];
    }
};

struct CompareAndSelect {
    static __device__ void step(Thread &t, unsigned)
    {
        for (int k = 0; k < CHAINS; k++)
            t.x[k] = t.x[k] < t.x[(k + 3) % CHAINS] ? t.one : t.x[(k + 1) % CHAINS];
    }
};

struct Address {
    static __device__ void step(Thread &t, unsigned)
    {
        for (unsigned &x : t.x)
            x = x * t.one + t.other;
    }
};

struct PermuteBytes {
    static __device__ void step(Thread &t, unsigned selector)
    {
        for (int k = 0; k < CHAINS; k++)
            t.x[k] = __byte_perm(t.x[k], t.x[(k + 1) % CHAINS], selector);
    }
};

struct SharedStore {
    static __device__ void step(Thread &t, unsigned stride)
    {
        for (unsigned x : t.x)
            t.shared[t.lane * stride] = x;
    }
};

struct SharedLoad {  // a word holds its own number: the value is the next address
    static __device__ void step(Thread &t, unsigned)
    {
        for (unsigned &x : t.x)
            x = t.shared[x];
    }
};

struct Barrier {
    static __device__ void step(Thread &, unsigned)
    {
        for (int k = 0; k < CHAINS; k++)
            __syncthreads();
    }
};

struct GlobalLoad {
    static __device__ void step(Thread &t, unsigned)
    {
        for (unsigned &x : t.x)
            x = t.global[x];
    }
};

template <class Body>
__global__ void __launch_bounds__(THREADS)
    measured(Span *spans, unsigned *sink, const unsigned *numbers, unsigned stride, unsigned one, int turns)
{
    __shared__ unsigned words[WORDS];
    for (int k = static_cast<int>(threadIdx.x); k < WORDS; k += THREADS)
        words[k] = static_cast<unsigned>(k);
    Thread t;
    t.lane = threadIdx.x % WARP;
    t.one = one;
    t.other = one - 1;
    t.shared = words;
    t.global = numbers;
    for (int k = 0; k < CHAINS; k++)
        t.x[k] = t.lane * stride + t.other * static_cast<unsigned>(k);
    __syncthreads();
    const long long began = clock64();
    for (int turn = 0; turn < turns; turn++) {
#pragma unroll
        for (int round = 0; round < ROUNDS; round++)
            Body::step(t, stride);
    }
    unsigned sum = 0;
    for (unsigned x : t.x)
        sum += x;
    sink[blockIdx.x * THREADS + threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0)
        spans[blockIdx.x] = {began, clock64(), processor()};
}

struct Room {
    Span *spans;
    unsigned *sink, *numbers;
    int blocks, turns;
};

// Clocks for one instruction of a warp, of the multiprocessor in the middle; negative where CUDA fails.
template <class Body>
double clocks(const Room &room, unsigned stride)
{
    std::vector<Span> spans(static_cast<size_t>(room.blocks));
    for (int run = 0; run < 2; run++)  // the first warms up
        measured<Body><<<room.blocks, THREADS>>>(room.spans, room.sink, room.numbers, stride, 1, room.turns);
    if (cudaGetLastError() != cudaSuccess
        || cudaMemcpy(spans.data(), room.spans, spans.size() * sizeof(Span), cudaMemcpyDeviceToHost) != cudaSuccess)
        return -1;
    struct Whole {
        long long began, ended;
        int blocks;
    };
    std::map<unsigned, Whole> processors;
    for (const Span &span : spans) {
        Whole &whole = processors.insert({span.processor, {span.began, span.ended, 0}}).first->second;
        whole.began = std::min(whole.began, span.began);
        whole.ended = std::max(whole.ended, span.ended);
        whole.blocks++;
    }
    std::vector<double> found;
    const double each = static_cast<double>(room.turns) * ROUNDS * CHAINS * THREADS / WARP;
    for (const auto &[number, whole] : processors)
        found.push_back(static_cast<double>(whole.ended - whole.began) / (each * whole.blocks));
    std::sort(found.begin(), found.end());
    return found[found.size() / 2];
}

void row(const char *name, const char *pattern, double cost, const char *source)
{
    char quoted[32];
    std::snprintf(quoted, sizeof quoted, "\"%s\"", pattern);
    std::printf("%-13s = { pattern = %-16s cost = %.2f, source = \"measured by warp_costs.sh%s%s\" }\n", name,
                (std::string(quoted) + ",").c_str(), cost, *source ? ": " : "", source);
}

int main(int count, char **arguments)
{
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        std::fprintf(stderr, "warp_costs: there is no GPU here\n");
        return 4;
    }
    cudaDeviceProp device;
    DO(cudaGetDeviceProperties(&device, 0));
    Room room;
    room.blocks = BLOCKS * device.multiProcessorCount;
    room.turns = count > 1 ? std::atoi(arguments[1]) : 64;
    DO(cudaMalloc(reinterpret_cast<void **>(&room.spans), static_cast<size_t>(room.blocks) * sizeof(Span)));
    DO(cudaMalloc(reinterpret_cast<void **>(&room.sink), static_cast<size_t>(room.blocks) * THREADS * sizeof(unsigned)));
    DO(cudaMalloc(reinterpret_cast<void **>(&room.numbers), LONGEST * sizeof(unsigned)));
    std::vector<unsigned> numbers(LONGEST);
    for (int k = 0; k < LONGEST; k++)
        numbers[static_cast<size_t>(k)] = static_cast<unsigned>(k);
    DO(cudaMemcpy(room.numbers, numbers.data(), LONGEST * sizeof(unsigned), cudaMemcpyHostToDevice));

    const double select = clocks<Select>(room, 0x5a);
    const double both = clocks<CompareAndSelect>(room, 1);
    const double sectors = clocks<GlobalLoad>(room, SECTOR);
    std::printf("# Clocks of a multiprocessor for one instruction of a warp of 32 threads: measured by\n"
                "# samples/bench/warp_costs.sh on %s, compute capability %d.%d.\n",
                device.name, device.major, device.minor);
    for (unsigned ways : {2u, 4u, 8u, 16u, 32u})
        std::printf("# Shared memory where a bank has %2u words: a load %.2f, a store %.2f.\n", ways,
                    clocks<SharedLoad>(room, ways), clocks<SharedStore>(room, ways));
    std::printf("# A permutation of bytes, for cuda_bytes.toml: %.2f.\n", clocks<PermuteBytes>(room, 0x6240));
    std::printf("# A load from global memory: of 4 sectors %.2f, of 32 sectors %.2f.\n",
                clocks<GlobalLoad>(room, 1), sectors);
    std::printf("model = \"warp\"\nunit = \"clocks of a multiprocessor for a warp\"\n\n[instructions]\n");
    row("shuffle", "shuffle", clocks<Shuffle>(room, 1), "");
    row("select", "select", select, "");
    row("comparison", "comparison", std::max(both - select, 0.01), "a comparison and a select, less a select");
    row("address", "address", clocks<Address>(room, 1), "a multiplication and an addition");
    row("shared_store", "shared store", clocks<SharedStore>(room, 1), "without conflicts");
    row("shared_load", "shared load", clocks<SharedLoad>(room, 1), "without conflicts");
    row("barrier", "barrier", clocks<Barrier>(room, 1), "of a block of 256 threads, for each of its warps");
    row("global_sector", "global sector", sectors / WARP, "of the cache, where each lane reads another");
    DO(cudaGetLastError());
    return 0;
}
