// One rule an operation: which of its operands have to have equal copies for its result to have.
#include "frontend/onnx/AlikeCopies.h"

#include "frontend/onnx/ValueTypes.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cstring>
#include <map>
#include <tuple>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

bool frontend::repeatsAll(nn::BroadcastOp op, std::int64_t dim) {
  const std::int64_t d = dim - (rankOf(op.getY()) - rankOf(op.getX()));
  return d < 0 || shapeOf(op.getX())[d] == 1;
}

namespace {

class Alike {
public:
  Alike(std::int64_t count, llvm::SmallVectorImpl<Operation *> &made) : count(count), made(made) {}

  bool of(Value value, const BatchPlace &place) {
    constexpr int deepest = 256;
    if (place.dim < 0 || place.dim >= rankOf(value) ||
        shapeOf(value)[place.dim] != place.factor() * count || depth == deepest)
      return false;
    if (count == 1)
      return true;
    const auto [known, isNew] = answers.try_emplace(
        {value.getAsOpaquePointer(), place.dim, place.outer, place.inner}, false);
    if (!isNew)
      return known->second;
    Operation *op = value.getDefiningOp();
    ++depth;
    const bool isAlike = op && op->getResult(0) == value && check(op, place);
    --depth;
    return known->second = isAlike;
  }

private:
  bool check(Operation *op, const BatchPlace &place) {
    return llvm::TypeSwitch<Operation *, bool>(op)
        .Case<nn::ConstantOp>([&](auto op) { return ofConstant(op, place); })
        .Case<nn::UnaryOp>([&](auto op) { return of(op.getX(), place); })
        .Case<nn::BinaryOp>([&](auto op) {
          return repeated(op.getA(), op.getY(), place) && repeated(op.getB(), op.getY(), place);
        })
        .Case<nn::BroadcastOp>([&](nn::BroadcastOp op) {
          if (!repeatsAll(op, place.dim))
            return repeated(op.getX(), op.getY(), place);
          made.push_back(op);
          return true;
        })
        .Case<nn::ReshapeOp>([&](nn::ReshapeOp op) {
          const auto from = placeIn(shapeOf(op.getX()), spanOf(shapeOf(op.getY()), place), count);
          return from && of(op.getX(), *from);
        })
        .Case<nn::TransposeOp>([&](nn::TransposeOp op) {
          return of(op.getX(), at(place, op.getPermutation()[place.dim]));
        })
        .Case<nn::SliceOp>([&](nn::SliceOp op) {
          const bool isWhole = op.getStarts()[place.dim] == 0 && op.getSteps()[place.dim] == 1;
          return isWhole && of(op.getX(), place);
        })
        .Case<nn::ConcatOp>([&](nn::ConcatOp op) {
          return static_cast<std::int64_t>(op.getAxis()) != place.dim &&
                 llvm::all_of(op.getXs(), [&](Value x) { return of(x, place); });
        })
        .Case<nn::MatmulOp>([&](auto op) { return ofMatmul(op, place); })
        .Case<nn::SoftmaxOp>([&](nn::SoftmaxOp op) {
          return static_cast<std::int64_t>(op.getAxis()) != place.dim && of(op.getX(), place);
        })
        .Case<nn::LayerNormOp>([&](nn::LayerNormOp op) {
          return place.dim < rankOf(op.getX()) - rankOf(op.getScale()) && of(op.getX(), place);
        })
        .Case<nn::EmbeddingOp>([&](nn::EmbeddingOp op) {
          return place.dim < rankOf(op.getIds()) && of(op.getIds(), place);
        })
        .Default([](Operation *) { return false; });
  }

  static BatchPlace at(BatchPlace place, std::int64_t dim) {
    place.dim = dim;
    return place;
  }

  /// Whether an operand that is broadcast to `y` has equal copies, or the one that all share.
  bool repeated(Value x, Value y, const BatchPlace &place) {
    const std::int64_t d = place.dim - (rankOf(y) - rankOf(x));
    return d < 0 || shapeOf(x)[d] == 1 || of(x, at(place, d));
  }

  bool ofConstant(nn::ConstantOp op, const BatchPlace &place) {
    auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
    if (!elements || elements.isSplat())
      return elements != nullptr;
    const std::int64_t width = elements.getElementType().getIntOrFloatBitWidth() / 8;
    const auto span = spanOf(shapeOf(op.getResult()), place);
    const char *data = elements.getRawData().data();
    const std::int64_t bytes = span.after * width;
    for (std::int64_t i = 0; width > 0 && i < span.before * count; ++i)
      if (std::memcmp(data + i * bytes, data + i / count * count * bytes, bytes) != 0)
        return false;
    return width > 0;
  }

  bool ofMatmul(nn::MatmulOp op, const BatchPlace &place) {
    const std::int64_t rank = rankOf(op.getY());
    Value a = op.getA(), b = op.getB(), bias = op.getBias();
    if (bias && !repeated(bias, op.getY(), place))
      return false;
    if (place.dim == rank - 2)
      return of(a, at(place, rankOf(a) - (op.getTransposeA() ? 1 : 2)));
    if (place.dim == rank - 1)
      return of(b, at(place, rankOf(b) - (op.getTransposeB() ? 2 : 1)));
    return repeated(a, op.getY(), place) && repeated(b, op.getY(), place);
  }

  const std::int64_t count;
  llvm::SmallVectorImpl<Operation *> &made;
  std::map<std::tuple<const void *, std::int64_t, std::int64_t, std::int64_t>, bool> answers;
  int depth = 0;
};

} // namespace

bool frontend::hasEqualCopies(Value value, BatchPlace place, std::int64_t count,
                              llvm::SmallVectorImpl<Operation *> &made) {
  return Alike(count, made).of(value, place);
}
