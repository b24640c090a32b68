// A convolution through oneDNN, and the clock that times it and hbc's kernel in one process: called from
// unit_pair.py through ctypes.
//
// conv_new binds channels-last arrays (NHWC or NDHWC, filters of [taps, C, K]) to a primitive; weights are
// reordered once into the layout that oneDNN prefers, which is not timed. Null where there is no kernel.
#include <time.h>

#include <cstdint>

#include "onednn.hpp"

using dnnl::convolution_forward;
using dnnl::memory;
using Conv = Primitive<convolution_forward>;

static convolution_forward::primitive_desc describe(const dnnl::engine &engine, const memory::desc &in,
                                                    const memory::desc &weights, const memory::desc &out,
                                                    const memory::dims &strides, const memory::dims &pad) {
  const auto kind = dnnl::prop_kind::forward_inference;
  const auto how = dnnl::algorithm::convolution_direct;
#if DNNL_VERSION_MAJOR >= 3
  return convolution_forward::primitive_desc(engine, kind, how, in, weights, out, strides, pad, pad);
#else
  return convolution_forward::primitive_desc({kind, how, in, weights, out, strides, pad, pad}, engine);
#endif
}

// Dimensions as oneDNN orders them (channels first) of memory where channels are innermost.
static memory::dims channels_last(const memory::dims &dims) {
  memory::dims strides(dims.size());
  memory::dim step = dims[1];
  for (size_t d = dims.size(); d-- > 2;) {
    strides[d] = step;
    step *= dims[d];
  }
  strides[1] = 1;
  strides[0] = step;
  return strides;
}

// Filters of [taps, C, K]: outputs innermost, inputs around them.
static memory::dims outputs_last(const memory::dims &dims) {
  memory::dims strides(dims.size());
  memory::dim step = dims[0] * dims[1];
  for (size_t d = dims.size(); d-- > 2;) {
    strides[d] = step;
    step *= dims[d];
  }
  strides[0] = 1;
  strides[1] = dims[0];
  return strides;
}

// `space` extents of the image, `taps` of the filter: `rank` of them, outermost first.
extern "C" Conv *conv_new(const char *kind, int rank, const int64_t *space, const int64_t *taps, int64_t c,
                          int64_t k, int64_t stride, int64_t pad, void *in, void *weights, void *out) {
  using type = memory::data_type;
  const bool bytes = std::string(kind) == "u8s8";
  return made_by<Conv>([=](Conv &conv) {
    memory::dims in_dims{1, c}, weight_dims{k, c}, out_dims{1, k};
    for (int d = 0; d < rank; ++d) {
      in_dims.push_back(space[d]);
      weight_dims.push_back(taps[d]);
      out_dims.push_back((space[d] + 2 * pad - taps[d]) / stride + 1);
    }
    const memory::desc in_desc(in_dims, bytes ? type::u8 : type::bf16, channels_last(in_dims));
    const memory::desc out_desc(out_dims, bytes ? type::s32 : type::f32, channels_last(out_dims));
    const type weight_type = bytes ? type::s8 : type::bf16;
    const memory::desc plain(weight_dims, weight_type, outputs_last(weight_dims));
    const memory::desc free(weight_dims, weight_type, memory::format_tag::any);
    const memory::dims strides(rank, stride), padding(rank, pad);
    const auto chosen = describe(conv.engine, in_desc, free, out_desc, strides, padding);
    const memory packed = conv.packed(memory(plain, conv.engine, weights), chosen.weights_desc());
    conv.made = convolution_forward(chosen);
    conv.implementation = chosen.impl_info_str();
    conv.operands = {{DNNL_ARG_SRC, memory(in_desc, conv.engine, in)},
                      {DNNL_ARG_WEIGHTS, packed},
                      {DNNL_ARG_DST, memory(out_desc, conv.engine, out)}};
  });
}

extern "C" int conv_run(Conv *conv) {
  conv->run();
  return 0;
}

extern "C" const char *conv_implementation(const Conv *conv) { return conv->implementation.c_str(); }

extern "C" const char *conv_version() { return library_version(); }

// A kernel of hbc, or a primitive, bound to its arguments.
struct Bound {
  void *function;
  int count;            // of sizes; -1: `function` takes `arrays[0]` alone
  int64_t sizes[6];
  void *arrays[3];
};

static int call(const Bound &b) {
  using I = int64_t;
  using P = void *;
  const int64_t *s = b.sizes;
  P x = b.arrays[0], y = b.arrays[1], z = b.arrays[2];
  switch (b.count) {
    case -1: return reinterpret_cast<int (*)(P)>(b.function)(x);
    case 4: return reinterpret_cast<int (*)(I, I, I, I, P, P, P)>(b.function)(s[0], s[1], s[2], s[3], x, y, z);
    case 5:
      return reinterpret_cast<int (*)(I, I, I, I, I, P, P, P)>(b.function)(s[0], s[1], s[2], s[3], s[4], x, y, z);
  }
  return -1;
}

static double seconds_of(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// How often it is called in about so many seconds; negative where a call fails.
static int64_t calls_in(const Bound &bound, double seconds) {
  const double limit = seconds_of(CLOCK_MONOTONIC) + seconds;
  int64_t calls = 0;
  do {
    if (call(bound) != 0) return -1;
    ++calls;
  } while (seconds_of(CLOCK_MONOTONIC) < limit);
  return calls;
}

// The seconds of a call, of those in about so many seconds; negative where one fails. As many seconds before
// them are not counted: on processors with AMX the first third of a millisecond after another library's tiles
// runs at half of the speed, whoever comes second. With one thread the thread's own time is taken, from which
// others that share the processor take none.
extern "C" double conv_window(const Bound *bound, double seconds, int threads) {
  const clockid_t clock = threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
  if (calls_in(*bound, seconds) < 0) return -1;
  const double begin = seconds_of(clock);
  const int64_t calls = calls_in(*bound, seconds);
  return calls < 0 ? -1 : (seconds_of(clock) - begin) / static_cast<double>(calls);
}
