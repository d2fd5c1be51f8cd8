// Computes reductions of constants.
#include "frontend/onnx/FoldConstants.h"
#include "frontend/onnx/ShapeRules.h"

#include "onnx/onnx_pb.h"

#include <cmath>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;
using onnx::TensorProto;

// Integers wrap around modulo 2^64; real numbers are rounded once, at the end.
static std::int64_t sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
static std::int64_t product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
static _Float128 sum(_Float128 a, _Float128 b) { return a + b; }
static _Float128 product(_Float128 a, _Float128 b) { return a * b; }

/// What the reduction takes of an element.
template <typename T> static T termOf(llvm::StringRef op, T x) {
  if (op == "ReduceL1")
    return sum(x < 0 ? product(x, T(-1)) : x, T(0)); // of -0 it is 0
  return op == "ReduceL2" || op == "ReduceSumSquare" ? product(x, x) : x;
}

template <typename T> static T combine(llvm::StringRef op, T a, T b) {
  if (op == "ReduceMax" || op == "ReduceMin") {
    const bool isUnordered = a != a || b != b;
    return isUnordered ? sum(a, b) : (op == "ReduceMax") == (a > b) ? a : b;
  }
  return op == "ReduceProd" ? product(a, b) : sum(a, b);
}

/// Combines the elements of each place. Those without any are `nothing`.
template <typename T, typename From>
static std::vector<T> combineAll(llvm::StringRef op, const std::vector<From> &elements,
                                 const std::vector<std::int64_t> &places, std::int64_t count,
                                 T nothing) {
  std::vector<T> result(static_cast<std::size_t>(count), nothing);
  std::vector<bool> hasBegun(result.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const auto place = static_cast<std::size_t>(places[i]);
    const T term = termOf(op, T(elements[i]));
    result[place] = hasBegun[place] ? combine(op, result[place], term) : term;
    hasBegun[place] = true;
  }
  return result;
}

/// For each element of x the place of the result, of dimensions `kept`, that it is reduced into.
static FailureOr<std::vector<std::int64_t>> placesOf(NodeImport &node, const ConstantTensor &x,
                                                     const nn::Dims &kept) {
  ConstantTensor numbers;
  numbers.type = TensorProto::INT64;
  numbers.dims = kept;
  for (std::int64_t i = 0; i < numbers.size(); ++i)
    numbers.ints.push_back(i);
  SYNCLINE_TRY_MLIR(all, broadcastTo(node, numbers, x.dims));
  return std::move(all->ints);
}

static LogicalResult checkReduction(NodeImport &node, const ConstantTensor &x,
                                    const nn::Dims &kept) {
  const llvm::StringRef op = node.op();
  const bool isExtreme = op == "ReduceMax" || op == "ReduceMin";
  if (x.type == TensorProto::BOOL && !isExtreme)
    return node.error("expected numbers, got truth values");
  if (op == "ReduceL2" && !x.isReal())
    return node.error("expected floating-point elements");
  if (x.size() == 0 && nn::elementCount(kept) > 0 && (isExtreme || op == "ReduceMean"))
    return node.error("expected an element or more, got the shape " + nn::toString(x.dims));
  return success();
}

FailureOr<ConstantTensor> frontend::foldReduce(NodeImport &node, Constants in) {
  const ConstantTensor &x = *in[0];
  const llvm::StringRef op = node.op();
  SYNCLINE_TRY_MLIR(axes, reducedAxes(node, x.dims.size()));
  const nn::Dims kept = nn::reducedShape(x.dims, *axes, /*keepDims=*/true);
  if (failed(checkReduction(node, x, kept)))
    return failure();
  SYNCLINE_TRY_MLIR(places, placesOf(node, x, kept));
  ConstantTensor result;
  result.type = x.type;
  result.dims = nn::reducedShape(x.dims, *axes, node.integer("keepdims", 1) != 0);
  const std::int64_t count = result.size();
  const std::int64_t divisor = op == "ReduceMean" && count > 0 ? x.size() / count : 1;
  const int nothing = op == "ReduceProd" ? 1 : 0;
  if (x.isReal())
    for (_Float128 value : combineAll<_Float128>(op, x.reals, *places, count, nothing))
      result.reals.push_back(
          nearestReal(x.type, op == "ReduceL2" ? sqrtf128(value) : value / _Float128(divisor)));
  else
    for (std::int64_t value : combineAll<std::int64_t>(op, x.ints, *places, count, nothing))
      result.ints.push_back(wrap(x.type, static_cast<std::uint64_t>(value)) / divisor);
  return result;
}
