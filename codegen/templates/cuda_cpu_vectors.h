// The vector types of CUDA, with its alignments: two and four components are one access.
#pragma once

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;

#define CUDA_CPU_VECTOR1(T, N) \
    struct N##1 { T x; }; \
    inline N##1 make_##N##1(T x) { return {x}; }
#define CUDA_CPU_VECTOR2(T, N) \
    struct __align__(sizeof(T) * 2) N##2 { T x, y; }; \
    inline N##2 make_##N##2(T x, T y) { return {x, y}; }
#define CUDA_CPU_VECTOR3(T, N) \
    struct N##3 { T x, y, z; }; \
    inline N##3 make_##N##3(T x, T y, T z) { return {x, y, z}; }
#define CUDA_CPU_VECTOR4(T, N) \
    struct __align__(sizeof(T) < 4 ? sizeof(T) * 4 : 16) N##4 { T x, y, z, w; }; \
    inline N##4 make_##N##4(T x, T y, T z, T w) { return {x, y, z, w}; }
#define CUDA_CPU_VECTORS(T, N) \
    CUDA_CPU_VECTOR1(T, N) CUDA_CPU_VECTOR2(T, N) CUDA_CPU_VECTOR3(T, N) CUDA_CPU_VECTOR4(T, N)

CUDA_CPU_VECTORS(signed char, char)
CUDA_CPU_VECTORS(unsigned char, uchar)
CUDA_CPU_VECTORS(short, short)
CUDA_CPU_VECTORS(unsigned short, ushort)
CUDA_CPU_VECTORS(int, int)
CUDA_CPU_VECTORS(unsigned int, uint)
CUDA_CPU_VECTORS(long long, longlong)
CUDA_CPU_VECTORS(unsigned long long, ulonglong)
CUDA_CPU_VECTORS(float, float)
CUDA_CPU_VECTORS(double, double)

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};
