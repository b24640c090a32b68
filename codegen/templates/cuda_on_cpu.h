// CUDA C++ on the CPU: what generated kernels use of CUDA, for g++. One fiber for each CUDA thread, one
// block after the other. Threads run until they wait for others; in which order the environment
// variable CUDA_ON_CPU_ORDER says (forward, backward, or a seed), so that a missing barrier shows.
//
// codegen/build/cuda_cpu.py rewrites what is no C++ (`<<<...>>>`, `extern __shared__`) and includes this first.
// A mistake that is found is one line on stderr, and abort().
#pragma once
#define CUDA_ON_CPU 1

#include <assert.h>
#include <math.h>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cmath>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#define __global__
#define __device__
#define __host__
#define __constant__ const
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__

// All shared arrays lie in one section, which is filled with garbage before each block. An array is
// static in its function: that is the same array for all threads of the one block that runs.
#define __shared__ static __attribute__((section("cuda_shared")))

#include "cuda_cpu_vectors.h"

#include "cuda_cpu_fibers.h"

#include "cuda_cpu_sync.h"

#include "cuda_cpu_block.h"

#include "cuda_cpu_half.h"

#include "cuda_cpu_math.h"

#include "cuda_cpu_copies.h"

#include "cuda_cpu_mma.h"

#include "cuda_cpu_runtime.h"

#include "cuda_cpu_bulk.h"

#include "cuda_cpu_groups.h"

#include "cuda_cpu_wmma.h"
