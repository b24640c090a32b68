// Asynchronous copies to shared memory. The destination holds garbage from the issue of the copy until
// its group has been waited for: neither old data nor new may be read in between.
#pragma once

namespace cuda_on_cpu __attribute__((visibility("hidden"))) {

inline bool is_shared(const void *at)
{
    const char *p = static_cast<const char *>(at);
    if (dynamic_shared_memory && p >= dynamic_shared_memory && p < dynamic_shared_memory + launch.dynamic_shared)
        return true;
    return __start_cuda_shared && p >= __start_cuda_shared && p < __stop_cuda_shared;
}

// Of `size` bytes of the destination the first `copied` come from the source, the others are 0.
inline void copy_later(void *to, const void *from, size_t size, size_t copied)
{
    if (size != 4 && size != 8 && size != 16)
        fail("an asynchronous copy of " + std::to_string(size) + " bytes: only 4, 8 and 16 are possible");
    if (reinterpret_cast<uintptr_t>(to) % size || reinterpret_cast<uintptr_t>(from) % size)
        fail("an asynchronous copy of " + std::to_string(size) + " bytes is not aligned to them");
    if (copied > size)
        fail("an asynchronous copy reads more bytes than it writes");
    if (!is_shared(to))
        fail("an asynchronous copy writes elsewhere than to shared memory");
    memset(to, 0, size);
    poison(to, copied);
    Quiet quiet;
    current->copies.push_back({to, from, copied});
}

inline void commit_copies()
{
    Quiet quiet;
    current->groups.push_back(std::move(current->copies));
    current->copies.clear();
}

// Until at most `most` of the latest groups are under way.
inline void wait_for_copies(size_t most)
{
    auto &groups = current->groups;
    while (groups.size() > most) {
        for (const Copy &copy : groups.front())
            memcpy(copy.to, copy.from, copy.copied);
        groups.erase(groups.begin());
    }
}

}  // namespace cuda_on_cpu

inline void __pipeline_memcpy_async(void *to, const void *from, size_t size, size_t zeros = 0)
{
    cuda_on_cpu::copy_later(to, from, size, size - zeros);
}

inline void __pipeline_commit() { cuda_on_cpu::commit_copies(); }
inline void __pipeline_wait_prior(size_t most) { cuda_on_cpu::wait_for_copies(most); }

// Twins of cuda_ptx.h.
inline void ptx_cp_async_4(void *to, const void *from, int bytes = 4)
{
    cuda_on_cpu::copy_later(to, from, 4, bytes);
}

inline void ptx_cp_async_8(void *to, const void *from, int bytes = 8)
{
    cuda_on_cpu::copy_later(to, from, 8, bytes);
}

inline void ptx_cp_async_16(void *to, const void *from, int bytes = 16)
{
    cuda_on_cpu::copy_later(to, from, 16, bytes);
}

inline void ptx_cp_async_commit() { cuda_on_cpu::commit_copies(); }

template <int MOST>
void ptx_cp_async_wait()
{
    cuda_on_cpu::wait_for_copies(MOST);
}

inline void ptx_bar_sync(int id, int count, CUDA_CPU_LINE)
{
    if (id < 1 || id > 15 || count % 32 || count < 32)
        cuda_on_cpu::fail("bar.sync: the number is 1 to 15, the count of threads a multiple of 32");
    cuda_on_cpu::pass(id, "bar.sync", line, count, 0);
}
