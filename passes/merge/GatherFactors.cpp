// Rewrites gradients as products and sums of gathered factors.
#include "passes/merge/GatherFactors.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace syncline::merge {

namespace {

RankedTensorType ofAllRanks(Value value, std::int64_t ranks) {
  auto type = cast<RankedTensorType>(value.getType());
  llvm::SmallVector<std::int64_t> shape(type.getShape());
  shape[0] *= ranks;
  return RankedTensorType::get(shape, type.getElementType());
}

/// Builds gradients again from gathered factors.
class Rebuilder {
public:
  Rebuilder(OpBuilder &builder, const FactorPair &pair, sync::AllGatherOp gather,
            std::int64_t ranks)
      : builder(builder), pair(pair), ranks(ranks), gathered(gather.getGathered()) {}

  /// Builds the product over all ranks' samples; a convolution also gives the bias
  /// where `withBias`.
  void reconstructProduct(bool withBias) {
    Location place = pair.product->getLoc();
    if (auto matmul = dyn_cast<nn::MatmulOp>(pair.product)) {
      auto all =
          builder.create<nn::MatmulOp>(place, matmul.getY().getType(), gathered[0], gathered[1],
                                       Value(), true, false, nn::Activation::none);
      remember(matmul.getY(), all.getY(), all);
      return;
    }
    if (auto rows = dyn_cast<nn::EmbeddingBackwardOp>(pair.product)) {
      auto all = builder.create<nn::EmbeddingBackwardOp>(place, rows.getDtable().getType(),
                                                         gathered[0], gathered[1], Value());
      remember(rows.getDtable(), all.getDtable(), all);
      return;
    }
    auto conv = cast<nn::ConvBackwardWeightsOp>(pair.product);
    auto all = builder.create<nn::ConvBackwardWeightsOp>(
        place, conv.getDw().getType(), withBias ? conv.getDbias().getType() : Type(), gathered[0],
        gathered[1], conv.getStridesAttr(), conv.getDilationsAttr(), conv.getPadsBeginAttr(),
        conv.getPadsEndAttr(), conv.getGroupsAttr());
    remember(conv.getDw(), all.getDw(), all);
    if (withBias)
      known.map(conv.getDbias(), all.getDbias());
  }

  /// The value over all ranks of `local`, which is a copy of the product or of a sum of a factor.
  Value reconstruct(Value local) {
    if (Value done = known.lookupOrNull(local))
      return done;
    Operation *op = local.getDefiningOp();
    auto reduce = dyn_cast<nn::ReduceOp>(op);
    Value source = reduce ? factorShapedAs(reduce) : reconstruct(op->getOperand(0));
    IRMapping operands;
    operands.map(op->getOperand(0), source);
    Operation *copy = builder.clone(*op, operands);
    if (reduce)
      scaleTime(copy, 1);
    known.map(local, copy->getResult(0));
    return copy->getResult(0);
  }

private:
  /// All ranks' samples in the shape in which the sum takes one rank's samples. Reshapes keep the
  /// order of elements, so the ranks' samples stand one behind the other here as well.
  Value factorShapedAs(nn::ReduceOp reduce) {
    const bool isLeft = withoutReshapes(reduce.getX()) == withoutReshapes(pair.left);
    Value factor = gathered[isLeft ? 0 : 1];
    RankedTensorType type = ofAllRanks(reduce.getX(), ranks);
    if (factor.getType() == type)
      return factor;
    auto reshape = builder.create<nn::ReshapeOp>(reduce.getLoc(), type, factor);
    for (StringRef name : {nn::layerAttr, nn::backwardAttr})
      if (Attribute attribute = reduce->getAttr(name))
        reshape->setAttr(name, attribute);
    return reshape;
  }

  void remember(Value local, Value all, Operation *op) {
    op->setDiscardableAttrs(pair.product->getDiscardableAttrDictionary());
    scaleTime(op, pair.share());
    known.map(local, all);
  }

  /// Adds the seconds of the other ranks' samples, which the operation now computes too. Those of
  /// one rank take `share` of its seconds.
  void scaleTime(Operation *op, double share) const {
    const double times = 1 + share * static_cast<double>(ranks - 1);
    if (auto seconds = op->getAttrOfType<FloatAttr>(nn::secondsAttr))
      op->setAttr(nn::secondsAttr,
                  Builder(op->getContext()).getF64FloatAttr(seconds.getValueAsDouble() * times));
  }

  OpBuilder &builder;
  const FactorPair &pair;
  std::int64_t ranks;
  ValueRange gathered;
  IRMapping known; ///< values of this rank → values over all ranks
};

/// Collects the operations from `local` back to the product or the factor that it comes from.
void collectChain(Value local, llvm::SetVector<Operation *> &chain) {
  for (;;) {
    Operation *op = local.getDefiningOp();
    chain.insert(op);
    if (!isa<nn::ReshapeOp, nn::TransposeOp, nn::ReduceOp>(op))
      return;
    local = op->getOperand(0);
  }
}

/// Replaces a convolution of which only the bias gradient is still needed by a sum.
void keepOnlyBias(Operation *product) {
  auto conv = dyn_cast<nn::ConvBackwardWeightsOp>(product);
  if (!conv || !conv.getDw().use_empty() || !conv.getDbias() || conv.getDbias().use_empty())
    return;
  llvm::SmallVector<std::int64_t> axes;
  for (std::int64_t i = 0; i < cast<RankedTensorType>(conv.getDy().getType()).getRank(); ++i)
    if (i != 1)
      axes.push_back(i);
  OpBuilder builder(conv);
  auto sum = builder.create<nn::ReduceOp>(conv.getLoc(), conv.getDbias().getType(),
                                          nn::Reduction::sum, conv.getDy(), axes);
  sum->setDiscardableAttrs(conv->getDiscardableAttrDictionary());
  sum->removeAttr(nn::secondsAttr); // these were the product's seconds
  conv.getDbias().replaceAllUsesWith(sum.getY());
  conv.erase();
}

/// Erases the operations that only these gradients needed.
void eraseDead(const llvm::SetVector<Operation *> &chain, Operation *product) {
  llvm::SmallVector<Operation *> lastFirst(chain.begin(), chain.end());
  llvm::sort(lastFirst, [](Operation *a, Operation *b) { return b->isBeforeInBlock(a); });
  for (Operation *op : lastFirst) {
    if (isOpTriviallyDead(op))
      op->erase();
    else if (op == product)
      keepOnlyBias(op);
  }
}

sync::AllGatherOp createGather(OpBuilder &builder, const FactorMessage &message,
                               const FactorPair &pair, std::int64_t ranks) {
  sync::GradientOp carrier = message.carrier;
  llvm::SmallVector<StringRef> names{carrier.getParameter()};
  for (sync::GradientOp piggyback : message.piggybacks)
    names.push_back(piggyback.getParameter());
  const Type types[] = {ofAllRanks(pair.left, ranks), ofAllRanks(pair.right, ranks)};
  return builder.create<sync::AllGatherOp>(
      carrier.getLoc(), types, ValueRange{pair.left, pair.right}, builder.getStrArrayAttr(names),
      builder.getI64IntegerAttr(message.number), builder.getI64IntegerAttr(message.channel));
}

} // namespace

LogicalResult gatherFactors(OpBuilder &builder, const FactorMessage &message, std::int64_t ranks) {
  sync::GradientOp carrier = message.carrier;
  const std::optional<FactorPair> pair = factorsOf(carrier);
  if (!pair)
    return carrier.emitOpError("expected a product over samples: it travels by '")
           << cluster::stringifyScheme(message.scheme) << "'";
  if (pair->scheme() != message.scheme)
    return carrier.emitOpError("travels by '")
           << cluster::stringifyScheme(message.scheme) << "', expected '"
           << cluster::stringifyScheme(pair->scheme()) << "'";
  for (sync::GradientOp piggyback : message.piggybacks)
    if (!isPiggybackOf(piggyback, *pair))
      return piggyback.emitOpError("expected a sum of a factor of '")
             << carrier.getParameter() << "', with which it travels";

  auto conv = dyn_cast<nn::ConvBackwardWeightsOp>(pair->product);
  const bool withBias =
      conv && conv.getDbias() && llvm::any_of(message.piggybacks, [&](sync::GradientOp piggyback) {
        return withoutCopies(piggyback.getLocal()) == conv.getDbias();
      });
  Rebuilder rebuilder(builder, *pair, createGather(builder, message, *pair, ranks), ranks);
  rebuilder.reconstructProduct(withBias);
  llvm::SmallVector<sync::GradientOp> gradients{carrier};
  llvm::append_range(gradients, message.piggybacks);
  llvm::SetVector<Operation *> chain;
  for (sync::GradientOp gradient : gradients) {
    collectChain(gradient.getLocal(), chain);
    gradient.getAgreed().replaceAllUsesWith(rebuilder.reconstruct(gradient.getLocal()));
    gradient.erase();
  }
  eraseDead(chain, pair->product);
  return success();
}

} // namespace syncline::merge
