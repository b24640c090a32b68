// What every peer that calls oneDNN has: an engine of the processor, a primitive bound to its operands, and
// how oneDNN names what it chose. Files that include it are made into libraries which ctypes calls.
#pragma once
#include <memory>
#include <string>
#include <unordered_map>

#include "oneapi/dnnl/dnnl.hpp"

// A primitive, and the memory that it works on.
template <class Made>
struct Primitive {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  Made made;
  std::unordered_map<int, dnnl::memory> operands;
  std::string implementation;

  void run() {
    made.execute(stream, operands);
    stream.wait();
  }

  // `given` in the layout that `wanted` says, copied at once.
  dnnl::memory packed(dnnl::memory given, const dnnl::memory::desc &wanted) {
    dnnl::memory copy(wanted, engine);
    dnnl::reorder(given, copy).execute(stream, given, copy);
    stream.wait();
    return copy;
  }
};

// What `bind` makes of a new primitive; null where oneDNN has no such kernel.
template <class P, class Bind>
static P *made_by(Bind bind) {
  try {
    auto primitive = std::make_unique<P>();
    bind(*primitive);
    return primitive.release();
  } catch (const dnnl::error &) {
    return nullptr;
  }
}

static const char *library_version() {
  static const std::string text = [] {
    const dnnl_version_t *v = dnnl_version();
    return std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
  }();
  return text.c_str();
}
