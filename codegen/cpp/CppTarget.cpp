// Writes flat loops and loops that walk broadcast operands in C++.
#include "codegen/cpp/CppTarget.h"

#include "codegen/step/LoopNest.h"
#include "codegen/step/RunCompiler.h"

using namespace mlir;

namespace syncline::codegen {

namespace {

constexpr llvm::StringLiteral includes = R"(#include "syncline/CpuIsa.h"
#include "syncline/VectorMath.h"

#include <cmath>

#include <omp.h>
)";

constexpr llvm::StringLiteral loopPrelude = R"(
using Loop = void (*)(void *const *outs, const void *const *ins, std::int64_t first,
                      std::int64_t last);

// Each loop is compiled for several vector widths, once in each function that calls it. The widest
// is taken that the processor has and SYNCLINE_MAX_CPU_ISA allows.
#define CLONES __attribute__((always_inline)) static inline
#if defined(__x86_64__) && defined(__gnu_linux__)
#define VECTORS(name) __attribute__((target("arch=" name)))
#else
#define VECTORS(name)
#endif

template <Loop loop>
VECTORS("x86-64-v4")
void byAvx512(void *const *outs, const void *const *ins, std::int64_t first, std::int64_t last) {
  loop(outs, ins, first, last);
}

template <Loop loop>
VECTORS("x86-64-v3")
void byAvx2(void *const *outs, const void *const *ins, std::int64_t first, std::int64_t last) {
  loop(outs, ins, first, last);
}

const CpuIsa isa = loopIsa();

template <Loop loop>
void widest(void *const *outs, const void *const *ins, std::int64_t first, std::int64_t last) {
  if (isa == CpuIsa::avx512)
    return byAvx512<loop>(outs, ins, first, last);
  if (isa == CpuIsa::avx2)
    return byAvx2<loop>(outs, ins, first, last);
  loop(outs, ins, first, last);
}

// Splits [0, n) over the compute threads. Elements are independent, so the result is the same for
// any number of threads.
template <Loop loop>
void split(void *const *outs, const void *const *ins, std::int64_t n, void *) {
  constexpr std::int64_t line = 64, worthwhile = 1 << 15;
#pragma omp parallel if (n >= worthwhile)
  {
    const std::int64_t lines = (n + line - 1) / line;
    const std::int64_t thread = omp_get_thread_num(), threads = omp_get_num_threads();
    const std::int64_t first = lines * thread / threads * line;
    const std::int64_t last = lines * (thread + 1) / threads * line;
    widest<loop>(outs, ins, first < n ? first : n, last < n ? last : n);
  }
}

// Splits the rows of dense operands of which some broadcast. A row has perRow elements.
template <std::int64_t rows, std::int64_t perRow, Loop loop>
void splitRows(void *const *outs, const void *const *ins, std::int64_t, void *) {
  constexpr std::int64_t worthwhile = 1 << 15;
#pragma omp parallel if (rows * perRow >= worthwhile)
  {
    const std::int64_t thread = omp_get_thread_num(), threads = omp_get_num_threads();
    widest<loop>(outs, ins, rows * thread / threads, rows * (thread + 1) / threads);
  }
}
)";

constexpr llvm::StringLiteral buildPrelude = R"(
// The code from here on runs once, before the first step, so it is compiled fast, not to be fast.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O0")
#endif
)";

constexpr llvm::StringRef reserved[] = {
    "split",          "splitRows", "widest", "byAvx2", "byAvx512", "isa",   "CpuIsa", "cpuIsaCap",
    "cpuIsaVariable", "loopIsa",   "Loop",   "CLONES", "VECTORS",  "first", "last"};

/// Declares typed pointers: a0, a1, .. for the inputs and r0, r1, .. for the results.
std::string pointers(plan::PointwiseOp loop) {
  std::string text;
  for (auto [list, isInput] :
       {std::pair(loop.getIns(), true), std::pair(OperandRange(loop.getOuts()), false)})
    for (auto [index, operand] : llvm::enumerate(list)) {
      const std::string pointer = (isInput ? "const " : "") + elementType(operand).str() + " *";
      const std::string number = std::to_string(index);
      text += "  " + pointer + (isInput ? "a" : "r") + number + " = static_cast<" + pointer + ">(" +
              (isInput ? "ins[" : "outs[") + number + "]);\n";
    }
  return text;
}

std::string flatLoop(plan::PointwiseOp loop, const KernelBody &body) {
  return "#pragma omp simd\n  for (std::int64_t i = first; i < last; ++i) {\n" +
         element(loop, body, "    ", [](size_t) { return std::string("[i]"); }) + "  }\n";
}

std::string nestedLoop(plan::PointwiseOp loop, const KernelBody &body, const LoopNest &nest) {
  std::string text, closing, indent = "  ";
  const size_t innermost = nest.extents.size() - 1;
  for (size_t d = 0; d <= innermost; ++d) {
    const std::string i = "i" + std::to_string(d);
    if (d == innermost)
      text += "#pragma omp simd\n";
    text += indent + "for (std::int64_t " + i + " = " + (d == 0 ? "first" : "0") + "; " + i +
            " < " + (d == 0 ? "last" : std::to_string(nest.extents[d])) + "; ++" + i + ")" +
            (d == innermost ? " {" : "") + "\n";
    indent += "  ";
  }
  return text +
         element(loop, body, indent,
                 [&](size_t o) { return "[" + indexOf(nest.strides[o]) + "]"; }) +
         indent.substr(2) + "}\n";
}

LoopText writeLoop(plan::PointwiseOp loop, const KernelBody &body) {
  const std::string head = "CLONES void $(void *const *outs, const void *const *ins, std::int64_t "
                           "first,\n    std::int64_t last) {\n" +
                           pointers(loop);
  if (loop.getFlat())
    return {head + flatLoop(loop, body) + "}\n", "&split<$>"};
  const LoopNest nest = nestOf(loop);
  const std::int64_t rows = nest.extents.front(), perRow = rows == 0 ? 0 : nest.elements() / rows;
  return {head + nestedLoop(loop, body, nest) + "}\n",
          "&splitRows<" + std::to_string(rows) + ", " + std::to_string(perRow) + ", $>"};
}

const Compiler &cxx() {
  // Contraction is off, because results must not depend on the vector width. Names inside the
  // object must not depend on the compiler's process.
  static constexpr llvm::StringRef options[] = {"-std=c++20",
                                                "-O3",
                                                "-shared",
                                                "-fPIC",
                                                "-fopenmp",
                                                "-ffp-contract=off",
                                                "-fno-trapping-math",
                                                "-fno-math-errno",
                                                "-frandom-seed=step",
                                                "-Wl,--strip-all"};
  static constexpr llvm::StringRef candidates[] = {"c++"};
  static constexpr Compiler compiler{.language = "C++",
                                     .variable = "CXX",
                                     .candidates = candidates,
                                     .options = options,
                                     .extension = ".cpp"};
  return compiler;
}

Status compile(const std::string &source, const std::string &object,
               const std::string &includeDirectory) {
  return runCompiler(cxx(), source, object, includeDirectory);
}

} // namespace

const StepTarget &cppTarget() {
  static constexpr StepTarget target{.backend = "cpu",
                                     .fileName = "step.cpp",
                                     .usesNccl = false,
                                     .includes = includes,
                                     .enclosing = "",
                                     .loopPrelude = loopPrelude,
                                     .inLoops = "inline",
                                     .buildPrelude = buildPrelude,
                                     .reserved = reserved,
                                     .writeLoop = writeLoop,
                                     .compile = compile,
                                     .findCompiler = [] { return findCompiler(cxx()); }};
  return target;
}

} // namespace syncline::codegen
