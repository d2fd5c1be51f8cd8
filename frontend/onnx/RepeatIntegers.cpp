// Joins a tensor of integers with itself, in place of broadcasting it.
#include "frontend/onnx/RepeatIntegers.h"

#include "frontend/onnx/NodeImport.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

namespace {

class Repeater {
public:
  explicit Repeater(nn::BroadcastOp all) : builder(all), all(all) {}

  /// The broadcast's result.
  Value repeated() {
    const nn::DimsRef to = shapeOf(all.getY());
    nn::Dims dims(to.size() - shapeOf(all.getX()).size(), 1);
    llvm::append_range(dims, shapeOf(all.getX()));
    Value x = all.getX();
    if (shapeOf(x) != nn::DimsRef(dims))
      x = create<nn::ReshapeOp>(dims, x);
    // Innermost dimensions first, so that fewer elements are joined more often.
    for (std::size_t d = to.size(); d-- > 0;)
      if (dims[d] != to[d])
        x = repeat(x, d, to[d]);
    return x;
  }

private:
  /// x, of extent 1 in the dimension, as often as `count` says: each join doubles it.
  Value repeat(Value x, std::size_t dimension, std::int64_t count) {
    nn::Dims dims(shapeOf(x));
    const nn::Dims starts(dims.size(), 0), steps(dims.size(), 1);
    for (std::int64_t size = 1; size < count;) {
      const std::int64_t more = std::min(size, count - size);
      Value other = x;
      dims[dimension] = more;
      if (more < size)
        other = create<nn::SliceOp>(dims, x, starts, steps);
      size += more;
      dims[dimension] = size;
      x = create<nn::ConcatOp>(dims, ValueRange{x, other}, dimension);
    }
    return x;
  }

  template <typename Op, typename... Args> Value create(nn::DimsRef dims, Args &&...args) {
    auto type = RankedTensorType::get(dims, elementOf(all.getX()));
    auto op = builder.create<Op>(all.getLoc(), type, std::forward<Args>(args)...);
    if (Attribute layer = all->getAttr(nn::layerAttr))
      op->setAttr(nn::layerAttr, layer);
    return op->getResult(0);
  }

  OpBuilder builder;
  nn::BroadcastOp all;
};

} // namespace

void frontend::repeatIntegers(Block &block) {
  for (auto all : llvm::make_early_inc_range(block.getOps<nn::BroadcastOp>())) {
    if (isa<FloatType>(elementOf(all.getX())))
      continue;
    all.getY().replaceAllUsesWith(Repeater(all).repeated());
    all.erase();
  }
}
