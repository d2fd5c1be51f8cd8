// Writes a kernel for each loop. A thread takes packs of neighbouring elements.
#include "codegen/cuda/CudaTarget.h"

#include "codegen/cuda/CudaPrelude.h"
#include "codegen/step/LoopNest.h"
#include "codegen/step/RunCompiler.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SmallBitVector.h"

#include <algorithm>
#include <limits>
#include <optional>

using namespace mlir;

namespace syncline::codegen {

namespace {

/// An enumerator of syncline::LoopForm, and PointwiseInfo::gate.
struct FoundForm {
  llvm::StringRef name; ///< "sumRelu"; empty for LoopForm::other
  unsigned gate = 0;
};

bool isZero(Value value) { return matchPattern(value, m_PosZeroFloat()); }

/// Whether these are the body's inputs, each once, but for the one in place `without`.
bool areAllInputs(ArrayRef<Value> values, Block &body, std::optional<unsigned> without = {}) {
  llvm::SmallBitVector found(body.getNumArguments());
  if (without)
    found.set(*without);
  for (Value value : values) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || found.test(argument.getArgNumber()))
      return false;
    found.set(argument.getArgNumber());
  }
  return found.all();
}

/// `relation`(a, 0) ? 0 : other
struct ZeroOr {
  Value compared, other;
};

std::optional<ZeroOr> zeroWhere(arith::CmpFPredicate relation, Value value) {
  auto select = value.getDefiningOp<arith::SelectOp>();
  auto compare = select ? select.getCondition().getDefiningOp<arith::CmpFOp>() : arith::CmpFOp();
  if (!compare || compare.getPredicate() != relation || !isZero(compare.getRhs()) ||
      !isZero(select.getTrueValue()))
    return std::nullopt;
  return ZeroOr{compare.getLhs(), select.getFalseValue()};
}

/// The form of a flat loop over f32 with one result, by the operations of its body: those that
/// passes/fuse/ScalarBody.cpp builds for sums, ReLU and its gradient.
FoundForm loopFormOf(plan::PointwiseOp loop) {
  const auto isFloat = [](Value operand) {
    return cast<MemRefType>(operand.getType()).getElementType().isF32();
  };
  Block &body = loop.getBody().front();
  if (!loop.getFlat() || loop.getOuts().size() != 1 || !llvm::all_of(loop.getOperands(), isFloat))
    return {};
  const Value result = body.getTerminator()->getOperand(0);
  const auto isSum = [&](Value value, std::optional<unsigned> without = {}) {
    auto add = value.getDefiningOp<arith::AddFOp>();
    return add && areAllInputs({add.getLhs(), add.getRhs()}, body, without);
  };
  if (isSum(result))
    return {"sum"};
  if (auto relu = zeroWhere(arith::CmpFPredicate::OLT, result))
    return relu->compared == relu->other && isSum(relu->other) ? FoundForm{"sumRelu"} : FoundForm{};
  auto gradient = zeroWhere(arith::CmpFPredicate::OLE, result);
  auto gate = gradient ? dyn_cast<BlockArgument>(gradient->compared) : BlockArgument();
  if (!gate)
    return {};
  const unsigned place = gate.getArgNumber();
  if (isSum(gradient->other, place) || areAllInputs({gradient->other}, body, place))
    return {"reluGradient", place};
  return {};
}

constexpr llvm::StringRef reserved[] = {
    "packed", "Pack",    "load",     "store",   "Loop",   "walk",        "isAligned",
    "launch", "at",      "loop",     "dim3",    "Either", "launchDense", "launchRounded",
    "widen",  "enqueue", "Operands", "rounded", "Places", "areAligned"};

/// How the loop accesses an operand.
enum class Access {
  pack,  ///< a whole pack at once, at the result's index
  row,   ///< a whole pack at once, at the operand's own index, within one row of the result
  single ///< one element at a time
};

/// One operand of a loop as the kernel sees it.
struct Operand {
  std::string name, type;
  std::string place; ///< in the launch's operands: "at.ins[0]"
  Access access;
  llvm::SmallVector<std::int64_t> strides; ///< of its loops, unless it walks as the result
};

std::int64_t bytesOf(Value operand) {
  const unsigned bits = cast<MemRefType>(operand.getType()).getElementTypeBitWidth();
  return (bits + 7) / 8;
}

bool isFloat(Value operand) { return cast<MemRefType>(operand.getType()).getElementType().isF32(); }

/// The number of elements that fill 16 bytes of the widest operand.
std::int64_t packWidth(plan::PointwiseOp loop, std::int64_t floatBytes = 4) {
  std::int64_t widest = 1;
  for (Value operand : loop.getOperands())
    widest = std::max(widest, isFloat(operand) ? floatBytes : bytesOf(operand));
  return 16 / widest;
}

/// Names the launcher for floats that may be stored as bf16. Its packs fill 16 bytes of bf16.
std::string roundedLauncher(plan::PointwiseOp loop) {
  constexpr size_t maxOperands = 64; // bits of the mask
  if (!loop.getFlat() || loop.getNumOperands() > maxOperands ||
      llvm::none_of(loop.getOperands(), isFloat))
    return "";
  return "&launchRounded<$, " + std::to_string(packWidth(loop, 2)) + ">";
}

std::string formText(const FoundForm &found) {
  return found.name.empty() ? ""
                            : ("LoopForm::" + found.name + ", " + llvm::Twine(found.gate)).str();
}

/// The operands as the kernel sees them, inputs before results.
std::vector<Operand> operandsOf(plan::PointwiseOp loop, const LoopNest *nest, std::int64_t width) {
  std::vector<Operand> operands;
  const size_t ins = loop.getIns().size();
  for (auto [number, value] : llvm::enumerate(loop.getOperands())) {
    const bool isInput = number < ins;
    const std::string i = std::to_string(isInput ? number : number - ins);
    Operand operand{(isInput ? "a" : "r") + i,
                    elementType(value).str(),
                    (isInput ? "at.ins[" : "at.outs[") + i + "]",
                    Access::pack,
                    {}};
    if (nest && nest->strides[number] != nest->strides[ins]) {
      operand.strides = nest->strides[number];
      const bool staysInRow = nest->extents.back() % width == 0;
      operand.access = staysInRow && operand.strides.back() == 1 ? Access::row : Access::single;
    }
    operands.push_back(std::move(operand));
  }
  return operands;
}

/// The loop variables that operands of this access need, from the element's number.
std::string loopVariables(const LoopNest &nest, const std::vector<Operand> &operands,
                          const std::string &indent, const std::string &element) {
  const bool isSmall = nest.elements() <= std::numeric_limits<std::int32_t>::max();
  const std::string type = isSmall ? "std::uint32_t" : "std::int64_t";
  const bool isName = element.find(' ') == std::string::npos;
  const std::string number = isSmall  ? "static_cast<" + type + ">(" + element + ")"
                             : isName ? element
                                      : "(" + element + ")";
  std::string text;
  std::int64_t inner = nest.elements();
  for (size_t d = 0; d < nest.extents.size(); ++d) {
    inner /= std::max<std::int64_t>(nest.extents[d], 1);
    const bool isUsed = llvm::any_of(operands, [&](const Operand &operand) {
      return !operand.strides.empty() && operand.strides[d] != 0;
    });
    if (!isUsed)
      continue;
    text += indent + "const " + type + " i" + std::to_string(d) + " = " + number;
    if (inner != 1)
      text += " / " + std::to_string(inner);
    if (d != 0)
      text += " % " + std::to_string(nest.extents[d]);
    text += ";\n";
  }
  return text;
}

/// The declarations before the inner loop: packs, rows, pointers.
std::string declarations(const std::vector<Operand> &operands, size_t ins) {
  std::string text;
  for (auto [number, operand] : llvm::enumerate(operands)) {
    if (number >= ins) {
      text += "    Pack<" + operand.type + ", width> " + operand.name + ";\n";
      continue;
    }
    text += "    const auto " + operand.name + " = ";
    if (operand.access == Access::single)
      text += "static_cast<const " + operand.type + " *>(" + operand.place + ");\n";
    else
      text += "load<" + operand.type + ", width>(" + operand.place + ", " +
              (operand.access == Access::row ? indexOf(operand.strides) : "i") + ");\n";
  }
  return text;
}

LoopText writeLoop(plan::PointwiseOp loop, const KernelBody &body) {
  const size_t ins = loop.getIns().size();
  const std::int64_t width = packWidth(loop);
  std::optional<LoopNest> nest;
  if (!loop.getFlat())
    nest = nestOf(loop);
  const std::vector<Operand> operands = operandsOf(loop, nest ? &*nest : nullptr, width);
  const bool isInRow = nest && nest->extents.back() % width == 0;

  std::string text =
      "struct $ : Loop<" + std::to_string(loop.getOuts().size()) + ", " + std::to_string(ins) +
      ", " + std::to_string(width) +
      "> {\n  template <int width, typename Operands>\n  static __device__ void run(const "
      "Operands &at, std::int64_t i) {\n";
  if (isInRow)
    text += loopVariables(*nest, operands, "    ", "i");
  text += declarations(operands, ins);
  text += "#pragma unroll\n    for (int j = 0; j < width; ++j) {\n";
  if (nest && !isInRow)
    text += loopVariables(*nest, operands, "      ", "i + j");
  text += element(loop, body, "      ", [&](size_t number) {
    const Operand &operand = operands[number];
    return operand.access == Access::single ? "[" + indexOf(operand.strides) + "]"
                                            : std::string(".at[j]");
  });
  text += "    }\n";
  for (const Operand &result : llvm::ArrayRef(operands).drop_front(ins))
    text += "    store(" + result.place + ", i, " + result.name + ");\n";
  return {text + "  }\n};\n",
          nest ? "&launchDense<$, " + std::to_string(nest->elements()) + ">" : "&launch<$>",
          roundedLauncher(loop), formText(loopFormOf(loop))};
}

const Compiler &nvcc() {
  // Products are not contracted into sums, so that results are the CPU's. -O0 is for the host's
  // code, which runs once. The backend sees errors of launches in the runtime library that it uses
  // itself, so the object is linked with no other.
  static constexpr llvm::StringRef options[] = {"-std=c++20",
                                                "-O0",
                                                "--fmad=false",
                                                "-shared",
                                                "--cudart=shared",
                                                "--threads=0",
                                                "-gencode=arch=compute_80,code=sm_80",
                                                "-gencode=arch=compute_90,code=[sm_90,compute_90]",
                                                "-Xcompiler=-fPIC",
                                                "-Xlinker=--strip-all"};
  static constexpr llvm::StringRef candidates[] = {"nvcc", "/usr/local/cuda/bin/nvcc"};
  static constexpr Compiler compiler{.language = "CUDA",
                                     .variable = "NVCC",
                                     .candidates = candidates,
                                     .options = options,
                                     .extension = ".cu"};
  return compiler;
}

Status compile(const std::string &source, const std::string &object,
               const std::string &includeDirectory) {
  return runCompiler(nvcc(), source, object, includeDirectory);
}

} // namespace

const StepTarget &cudaTarget() {
  // A named namespace: what is in an unnamed one is called by a hash of the file's path.
  static constexpr StepTarget target{.backend = "cuda",
                                     .fileName = "step.cu",
                                     .usesNccl = true,
                                     .includes = cudaIncludes,
                                     .enclosing = "planned",
                                     .loopPrelude = cudaPrelude,
                                     .inLoops = "__device__",
                                     .buildPrelude = "",
                                     .reserved = reserved,
                                     .writeLoop = writeLoop,
                                     .compile = compile,
                                     .findCompiler = [] { return findCompiler(nvcc()); }};
  return target;
}

} // namespace syncline::codegen
