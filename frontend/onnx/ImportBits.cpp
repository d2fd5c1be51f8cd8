// BitwiseAnd, BitwiseOr, BitwiseXor and BitwiseNot of integers that a step computes, as f32.
#include "frontend/onnx/OpTable.h"

#include "onnx/onnx_pb.h"

#include <cmath>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;
using Kind = nn::BinaryKind;

namespace {

constexpr int mostBits = 24; // of the integers that f32 holds

/// The bits below the sign that integers in these bounds need.
int bitsOf(const std::optional<WholeBounds> &bounds) {
  int bits = 0;
  while (bits < mostBits && (!bounds || bounds->least < -(std::int64_t{1} << bits) ||
                             bounds->most >= std::int64_t{1} << bits))
    ++bits;
  return bits;
}

/// The bits of integers in two's complement, one after the other. With q = floor(x / 2^i), bit i is
/// q - 2·floor(q / 2); behind the last bit q is 0, or -1 of negative numbers.
class Bits {
public:
  Bits(NodeImport &node, Value x) : node(node), rest(x) {}

  Value next() {
    Value half = *createBinary(node, Kind::mul, rest, node.scalar(0.5, rest));
    half = node.create<nn::UnaryOp>(half.getType(), nn::UnaryKind::floor, half, llvm::APFloat(0.0),
                                    llvm::APFloat(0.0));
    Value bit = *createBinary(node, Kind::sub, rest, *createBinary(node, Kind::add, half, half));
    rest = half;
    return bit;
  }

  /// One of negative numbers, zero of others.
  Value sign() { return *createBinary(node, Kind::sub, node.scalar(0, rest), rest); }

private:
  NodeImport &node;
  Value rest;
};

/// The operator on one bit of each operand.
FailureOr<Value> combine(NodeImport &node, Value a, Value b) {
  if (node.op() == "BitwiseAnd")
    return createBinary(node, Kind::mul, a, b);
  if (node.op() == "BitwiseOr")
    return createBinary(node, Kind::max, a, b);
  SYNCLINE_TRY_MLIR(difference, createBinary(node, Kind::sub, a, b));
  return node
      .create<nn::UnaryOp>(difference->getType(), nn::UnaryKind::abs, *difference,
                           llvm::APFloat(0.0), llvm::APFloat(0.0))
      .getResult();
}

std::optional<WholeBounds> boundsOf(NodeImport &node, unsigned i) {
  return node.state.values.boundsOf(node.inputName(i));
}

/// -1 - x; of a type without a sign the largest number less x.
LogicalResult importNot(NodeImport &node, int type) {
  Value x = realOperand(node, 0);
  if (!x)
    return failure();
  const std::optional<WholeBounds> range = rangeOf(type), bounds = boundsOf(node, 0);
  const std::int64_t last = range && range->least == 0 ? range->most : -1;
  std::optional<WholeBounds> after;
  if (bounds)
    after = WholeBounds{last - bounds->most, last - bounds->least};
  return defineWrapped(node,
                       createBinary(node, Kind::sub, node.scalar(static_cast<double>(last), x), x),
                       type, after);
}

} // namespace

LogicalResult frontend::importBits(NodeImport &node) {
  const unsigned count = node.op() == "BitwiseNot" ? 1 : 2;
  int type = 0;
  for (unsigned i = 0; i < count; ++i) {
    type = isWholeOperand(node, i) ? node.state.values.wholeType(node.inputName(i)) : 0;
    if (type == 0 || type == onnx::TensorProto::BOOL)
      return node.error("expected integers as '" + node.inputName(i) + "'");
  }
  if (count == 1)
    return importNot(node, type);
  Value a = realOperand(node, 0), b = a ? realOperand(node, 1) : Value();
  if (!b)
    return failure();
  const std::optional<WholeBounds> ofA = boundsOf(node, 0), ofB = boundsOf(node, 1);
  const bool isSigned = !ofA || !ofB || ofA->least < 0 || ofB->least < 0;
  const int bits = std::max(bitsOf(ofA), bitsOf(ofB));
  FailureOr<Value> sum = Value();
  const auto add = [&](Value x, Value y, double weight) {
    FailureOr<Value> bit = combine(node, x, y);
    if (succeeded(bit))
      bit = createBinary(node, Kind::mul, *bit, node.scalar(weight, *bit));
    sum = failed(bit) || !*sum ? bit : createBinary(node, Kind::add, *sum, *bit);
    return succeeded(sum);
  };
  Bits restA(node, a), restB(node, b);
  for (int i = 0; i < bits; ++i)
    if (!add(restA.next(), restB.next(), std::ldexp(1.0, i)))
      return failure();
  if ((isSigned || bits == 0) && !add(restA.sign(), restB.sign(), -std::ldexp(1.0, bits)))
    return failure();
  const std::int64_t end = std::int64_t{1} << bits;
  return defineWrapped(node, sum, type, WholeBounds{isSigned ? -end : 0, end - 1});
}
