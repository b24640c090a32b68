// A matrix product through oneDNN, called from gemm.py through ctypes.
//
// gemm_new binds row-major A (m x k), B (k x n) and C (m x n) to a primitive; with `prepack`, B is
// reordered once into the layout that oneDNN prefers. Returns null where there is no such kernel.
#include "onednn.hpp"

using dnnl::matmul;
using dnnl::memory;
using Gemm = Primitive<matmul>;

struct Types {
  memory::data_type a, b, c;
};

static Types types_of(const std::string &kind) {
  using type = memory::data_type;
  if (kind == "bf16") return {type::bf16, type::bf16, type::f32};
  if (kind == "u8s8") return {type::u8, type::s8, type::s32};
  return {type::f32, type::f32, type::f32};
}

static matmul::primitive_desc describe(const dnnl::engine &engine, const memory::desc &a,
                                       const memory::desc &b, const memory::desc &c) {
#if DNNL_VERSION_MAJOR >= 3
  return matmul::primitive_desc(engine, a, b, c);
#else
  return matmul::primitive_desc(matmul::desc(a, b, c), engine);
#endif
}

static void bind(Gemm &gemm, const std::string &kind, long m, long n, long k, bool prepack, void *a,
                 void *b, void *c) {
  using tag = memory::format_tag;
  const Types types = types_of(kind);
  const memory::desc plain_a({m, k}, types.a, tag::ab);
  const memory::desc plain_b({k, n}, types.b, tag::ab);
  const memory::desc plain_c({m, n}, types.c, tag::ab);
  const memory::desc free_b({k, n}, types.b, tag::any);
  const auto chosen = describe(gemm.engine, plain_a, prepack ? free_b : plain_b, plain_c);
  memory weights(plain_b, gemm.engine, b);
  if (prepack) weights = gemm.packed(weights, chosen.weights_desc());
  gemm.made = matmul(chosen);
  gemm.implementation = chosen.impl_info_str();
  gemm.operands = {{DNNL_ARG_SRC, memory(plain_a, gemm.engine, a)},
                   {DNNL_ARG_WEIGHTS, weights},
                   {DNNL_ARG_DST, memory(plain_c, gemm.engine, c)}};
}

extern "C" Gemm *gemm_new(const char *kind, long m, long n, long k, int prepack, void *a, void *b,
                          void *c) {
  return made_by<Gemm>([=](Gemm &gemm) { bind(gemm, kind, m, n, k, prepack != 0, a, b, c); });
}

extern "C" void gemm_run(Gemm *gemm) { gemm->run(); }

extern "C" const char *gemm_implementation(const Gemm *gemm) {
  return gemm->implementation.c_str();
}

extern "C" const char *gemm_version() { return library_version(); }
