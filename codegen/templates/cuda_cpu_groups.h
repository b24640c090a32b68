// wgmma.mma_async: products of a group of four warps, which go on while its threads do other things (PTX ISA,
// "Asynchronous Warpgroup Level Matrix Instructions"). Twins of the functions of cuda_ptx.h. A product is done
// when it is waited for, from what lies in shared memory then; its sums hold garbage from the issue to the wait.
#pragma once

namespace cuda_on_cpu __attribute__((visibility("hidden"))) {

constexpr unsigned GROUP = 128;

// What asynchronous products see of shared memory: as it was at the last barrier that all threads of the block
// came to behind a fence of their own.
inline void look_at_shared_memory()
{
    const size_t fixed = __start_cuda_shared ? __stop_cuda_shared - __start_cuda_shared : 0;
    seen_shared.resize(fixed + launch.dynamic_shared);
    if (fixed)
        memcpy(seen_shared.data(), __start_cuda_shared, fixed);
    if (launch.dynamic_shared)
        memcpy(seen_shared.data() + fixed, dynamic_shared_memory, launch.dynamic_shared);
}

// 16 bytes in shared memory, which no thread may have stored to since.
inline const char *operand_bytes(uint64_t at)
{
    const size_t fixed = __start_cuda_shared ? __stop_cuda_shared - __start_cuda_shared : 0;
    const char *p = reinterpret_cast<const char *>(at);
    if (!is_shared(p) || !is_shared(p + 15))
        fail("wgmma reads beyond shared memory");
    const bool dynamic = dynamic_shared_memory && p >= dynamic_shared_memory &&
        p < dynamic_shared_memory + launch.dynamic_shared;
    const size_t place = dynamic ? fixed + (p - dynamic_shared_memory) : p - __start_cuda_shared;
    if (place + 16 > seen_shared.size() || memcmp(seen_shared.data() + place, p, 16))
        fail("wgmma reads shared memory that was stored to without a fence.proxy.async and a barrier behind it");
    return p;
}

// Element `k` of row or column `mn` of an operand of 16-bit elements in 128-byte swizzle mode. Address bits 7
// to 9 are added to bits 4 to 6 without carry. `TURNED`: elements of one k lie side by side, not those of one mn.
template <int TURNED>
uint64_t operand_place(const WarpGroupOperand &x, int mn, int k)
{
    const uint64_t minor = TURNED ? mn : k, major = TURNED ? k : mn;
    // Along k the operand is 16 elements of the 64 of a row of 128 bytes, or all of them.
    const uint64_t from = minor / 64 * x.across + major / 8 * x.down + major % 8 * 128 + minor % 64 * 2;
    const uint64_t at = x.at + from;
    return at ^ (at >> 3 & 0x70);
}

template <class T>
float operand_element(uint64_t at)
{
    T value;
    memcpy(&value, operand_bytes(at & ~15ull) + (at & 15), sizeof value);
    return static_cast<float>(value);
}

// The sums of one thread: 2 rows by N / 4 columns, of `K` steps of its rows of A.
template <class T, int N, int K, int B>
void multiply_rows(const float (&a)[2][K], const GroupProduct &p, float *sums)
{
    static float b[N / 4][K];
    for (int k = 0; k < K; k++)
        for (int c = 0; c < N / 4; c++)
            b[c][k] = operand_element<T>(operand_place<B>(p.b, p.lane % 4 * 2 + c % 2 + c / 2 * 8, k));
    for (int e = 0; e < N / 2; e++)
        for (int k = 0; k < K; k++)
            sums[e] += a[e / 2 % 2][k] * b[e / 4 * 2 + e % 2][k];
}

template <class T, int N, int A, int B>
void multiply_group(const GroupProduct &p, float *sums)
{
    static float a[2][16];
    for (int k = 0; k < 16; k++)
        for (int h = 0; h < 2; h++)
            a[h][k] = operand_element<T>(operand_place<A>(p.a, p.lane / 32 * 16 + p.lane / 4 % 8 + h * 8, k));
    multiply_rows<T, N, 16, B>(a, p, sums);
}

// 64 columns of A in registers, in the order of sums: the four threads that share a row have two of every eight.
template <class T, int N, int B>
void multiply_registers(const GroupProduct &p, float *sums)
{
    if (memcmp(p.registers, p.rows[p.lane % 4].data(), sizeof p.rows[0]))
        fail("registers that a product reads were stored to while it is under way");
    static float a[2][64];
    for (int k = 0; k < 64; k++)
        for (int h = 0; h < 2; h++) {
            T value;
            memcpy(&value, reinterpret_cast<const T *>(&p.rows[k % 8 / 2][k / 8 * 2 + h]) + k % 2, sizeof value);
            a[h][k] = static_cast<float>(value);
        }
    multiply_rows<T, N, 64, B>(a, p, sums);
}

struct SharedRegisters {
    const unsigned *own;
    RegisterRows rows;
};

// Each lane gets what the four that share its rows have in registers.
inline void share_registers(void **requests, unsigned present)
{
    all_there(requests, present);
    for (unsigned lane = 0; lane < WARP; lane++)
        for (unsigned n = 0; n < 4; n++) {
            const auto *from = static_cast<SharedRegisters *>(requests[lane / 4 * 4 + n]);
            memcpy(static_cast<SharedRegisters *>(requests[lane])->rows[n].data(), from->own, sizeof from->rows[n]);
        }
}

inline bool is_garbage(const float *at, size_t count)
{
    std::vector<float> garbage(count);
    poison(garbage.data(), count * sizeof *at);
    return !memcmp(garbage.data(), at, count * sizeof *at);
}

inline void begin_product(const GroupProduct &p, const char *name, int line)
{
    meet(FULL, name, line, all_there, nullptr, false);
    Quiet quiet;
    if (!current->fenced_registers)
        fail(at_line(name, line) + ": no wgmma.fence before the first product of its group");
    if (launch.block.x * launch.block.y * launch.block.z < current->linear / GROUP * GROUP + GROUP)
        fail(at_line(name, line) + ": a group of four warps is not whole");
    for (const WarpGroupOperand *x : {&p.a, &p.b})
        if (x == &p.a && p.registers)
            continue;
        else if (x->at % 16 || x->across % 16 || x->down % 16 || (x->at & 0x380))
            fail(at_line(name, line) + ": an operand does not begin with the first of eight rows");
    auto &sums = current->sums[p.sums];
    if (sums.empty()) {
        sums.assign(p.sums, p.sums + p.count);
        poison(p.sums, p.count * sizeof *p.sums);
    } else if (!is_garbage(p.sums, p.count))
        fail(at_line(name, line) + ": the sums of a product that is under way were touched");
    current->products.push_back(p);
}

inline void commit_products()
{
    meet(FULL, "wgmma.commit_group", 0, all_there, nullptr, false);
    Quiet quiet;
    current->product_groups.push_back(std::move(current->products));
    current->products.clear();
    current->fenced_registers = false;
}

inline void wait_for_products(size_t most)
{
    meet(FULL, "wgmma.wait_group", 0, all_there, nullptr, false);
    Quiet quiet;
    auto &groups = current->product_groups;
    std::vector<GroupProduct> done;
    for (; groups.size() > most; groups.erase(groups.begin()))
        for (const GroupProduct &p : groups.front()) {
            p.multiply(p, current->sums[p.sums].data());
            done.push_back(p);
        }
    for (const GroupProduct &p : done) {
        bool goes_on = false;
        for (const auto &group : groups)
            for (const GroupProduct &later : group)
                goes_on = goes_on || later.sums == p.sums;
        const auto found = current->sums.find(p.sums);
        if (goes_on || found == current->sums.end())
            continue;
        if (!is_garbage(p.sums, p.count))
            fail("the sums of a product that is under way were touched");
        memcpy(p.sums, found->second.data(), p.count * sizeof *p.sums);
        current->sums.erase(found);
    }
}

}  // namespace cuda_on_cpu

inline cuda_on_cpu::WarpGroupOperand ptx_wgmma_operand(
    const void *at, unsigned more, unsigned across, unsigned down)
{
    return {reinterpret_cast<uint64_t>(at) + more, across, down};
}

inline void ptx_fence_proxy_async()
{
    cuda_on_cpu::current->fenced_stores = true;
    cuda_on_cpu::fence_signals();
}

inline void ptx_wgmma_fence()
{
    cuda_on_cpu::meet(cuda_on_cpu::FULL, "wgmma.fence", 0, cuda_on_cpu::all_there, nullptr, false);
    cuda_on_cpu::current->fenced_registers = true;
}

template <class T, int N>
void ptx_hold(T (&)[N])
{
}

inline void ptx_wgmma_commit() { cuda_on_cpu::commit_products(); }

template <int MOST>
void ptx_wgmma_wait()
{
    cuda_on_cpu::wait_for_products(MOST);
}

#define CUDA_CPU_WGMMA(NAME, T, N) \
    template <int A, int B> \
    void NAME( \
        float (&d)[N / 2], cuda_on_cpu::WarpGroupOperand a, cuda_on_cpu::WarpGroupOperand b, \
        CUDA_CPU_LINE) \
    { \
        const int lane = cuda_on_cpu::current->linear % cuda_on_cpu::GROUP; \
        cuda_on_cpu::begin_product( \
            {d, N / 2, lane, a, b, cuda_on_cpu::multiply_group<T, N, A, B>}, "wgmma.mma_async", line); \
    }
CUDA_CPU_WGMMA(ptx_wgmma_m64n64k16_f32_f16, __half, 64)
CUDA_CPU_WGMMA(ptx_wgmma_m64n128k16_f32_f16, __half, 128)
CUDA_CPU_WGMMA(ptx_wgmma_m64n256k16_f32_f16, __half, 256)
CUDA_CPU_WGMMA(ptx_wgmma_m64n64k16_f32_bf16, __nv_bfloat16, 64)
CUDA_CPU_WGMMA(ptx_wgmma_m64n128k16_f32_bf16, __nv_bfloat16, 128)
CUDA_CPU_WGMMA(ptx_wgmma_m64n256k16_f32_bf16, __nv_bfloat16, 256)

#define CUDA_CPU_WGMMA_REGISTERS(NAME, T, N) \
    template <int B> \
    void NAME(float (&d)[N / 2], unsigned (&a)[16], cuda_on_cpu::WarpGroupOperand b, CUDA_CPU_LINE) \
    { \
        cuda_on_cpu::SharedRegisters own = {a, {}}; \
        cuda_on_cpu::meet(cuda_on_cpu::FULL, "wgmma.mma_async", line, cuda_on_cpu::share_registers, &own, false); \
        const int lane = cuda_on_cpu::current->linear % cuda_on_cpu::GROUP; \
        cuda_on_cpu::begin_product( \
            {d, N / 2, lane, {}, b, cuda_on_cpu::multiply_registers<T, N, B>, a, own.rows}, "wgmma.mma_async", line); \
    }
CUDA_CPU_WGMMA_REGISTERS(ptx_wgmma_m64n64k64_f32_f16, __half, 64)
CUDA_CPU_WGMMA_REGISTERS(ptx_wgmma_m64n128k64_f32_f16, __half, 128)
CUDA_CPU_WGMMA_REGISTERS(ptx_wgmma_m64n256k64_f32_f16, __half, 256)
CUDA_CPU_WGMMA_REGISTERS(ptx_wgmma_m64n64k64_f32_bf16, __nv_bfloat16, 64)
CUDA_CPU_WGMMA_REGISTERS(ptx_wgmma_m64n128k64_f32_bf16, __nv_bfloat16, 128)
CUDA_CPU_WGMMA_REGISTERS(ptx_wgmma_m64n256k64_f32_bf16, __nv_bfloat16, 256)
