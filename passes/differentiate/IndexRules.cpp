// Rules for operations that go by indices. What was taken by an index gets the gradient of all that
// it became: the opposite operation by the same indices.
#include "passes/differentiate/Rules.h"
#include "syncline/ScatterKind.h"

using namespace mlir;
using namespace syncline::differentiate;
using namespace syncline::nn;
using syncline::ScatterKind;
using Kind = BinaryKind;

static LogicalResult differentiateGatherRows(GatherRowsOp op, Gradients &g) {
  g.add(op.getX(), g.create<ScatterRowsOp>(op.getX().getType(), g.of(op.getY()), op.getIndices(),
                                           Value(), op.getAxis(), op.getShared(),
                                           static_cast<std::uint64_t>(ScatterKind::add)));
  return success();
}

static LogicalResult differentiateTopK(TopKOp op, Gradients &g) {
  const auto last = static_cast<std::uint64_t>(tensorType(op.getX()).getRank() - 1);
  if (Value dy = g.of(op.getValues()))
    g.add(op.getX(),
          g.create<ScatterRowsOp>(op.getX().getType(), dy, op.getIndices(), Value(), last, last,
                                  static_cast<std::uint64_t>(ScatterKind::add)));
  return success();
}

namespace {

/// The rules of a scatter, one a kind. They are PyTorch's: with indices that repeat, each update
/// that is replaced gets the gradient of the one in its place.
class ScatterRule {
public:
  ScatterRule(ScatterRowsOp op, Gradients &g) : op(op), g(g), dy(g.of(op.getY())) {}

  void add() {
    if (op.getOnto())
      g.add(op.getOnto(), dy);
    if (g.wanted(op.getUpdates()))
      g.add(op.getUpdates(), taken(dy));
  }

  void replace() {
    if (op.getOnto() && g.wanted(op.getOnto()))
      g.add(op.getOnto(), scattered(zerosLike(op.getUpdates()), dy, ScatterKind::replace));
    if (g.wanted(op.getUpdates()))
      g.add(op.getUpdates(), taken(dy));
  }

  /// All that equals the bound shares its gradient.
  void bound(bool isMaximum) {
    const auto equals = [&](Value value, Value bound) {
      return isMaximum ? g.binary(Kind::not_less, value, bound)
                       : g.binary(Kind::not_less, bound, value);
    };
    Value below = op.getOnto() ? op.getOnto() : zerosLike(op.getY());
    Value ontoIs = equals(below, op.getY());
    Value updateIs = equals(op.getUpdates(), taken(op.getY()));
    Value share = g.binary(Kind::div, dy, scattered(updateIs, ontoIs, ScatterKind::add));
    if (op.getOnto())
      g.add(op.getOnto(), g.binary(Kind::mul, ontoIs, share));
    if (g.wanted(op.getUpdates()))
      g.add(op.getUpdates(), g.binary(Kind::mul, updateIs, taken(share)));
  }

  /// The product of the other factors. Of zeros only one that is alone gets any.
  void multiply() {
    if (!op.getOnto()) // the product is zero, and so is its derivative
      return;
    Value onto = op.getOnto(), updates = op.getUpdates();
    if (g.wanted(onto)) {
      Value factor = withoutZeros(onto, isZero(onto));
      Value product = scattered(updates, factor, ScatterKind::multiply);
      g.add(onto, g.binary(Kind::div, g.binary(Kind::mul, dy, product), factor));
    }
    if (!g.wanted(updates))
      return;
    Value zero = isZero(updates);
    Value count = taken(scattered(zero, zerosLike(onto), ScatterKind::add));
    Value one = g.scalar(1, tensorType(updates).getElementType());
    Value alone = g.binary(Kind::mul, zero, g.binary(Kind::not_less, one, count));
    Value product = scattered(withoutZeros(updates, alone), onto, ScatterKind::multiply);
    Value others = g.binary(Kind::mask, taken(g.binary(Kind::mul, dy, product)), alone);
    Value quotient =
        g.binary(Kind::div, taken(g.binary(Kind::mul, dy, op.getY())), withoutZeros(updates, zero));
    g.add(updates, g.binary(Kind::add, others,
                            g.binary(Kind::mask, quotient, g.binary(Kind::sub, one, alone))));
  }

private:
  Value taken(Value from) {
    return g.create<GatherRowsOp>(op.getUpdates().getType(), from, op.getIndices(), op.getAxis(),
                                  op.getShared());
  }
  Value scattered(Value updates, Value onto, ScatterKind kind) {
    return g.create<ScatterRowsOp>(op.getY().getType(), updates, op.getIndices(), onto,
                                   op.getAxis(), op.getShared(), static_cast<std::uint64_t>(kind));
  }
  Value zerosLike(Value value) {
    auto type = tensorType(value);
    return g.create<BroadcastOp>(type, g.scalar(0, type.getElementType()));
  }
  Value isZero(Value x) {
    Value zero = g.scalar(0, tensorType(x).getElementType());
    return g.binary(Kind::mul, g.binary(Kind::not_less, x, zero),
                    g.binary(Kind::not_less, zero, x));
  }
  /// x, which is zero where `where` is one, with ones there.
  Value withoutZeros(Value x, Value where) { return g.binary(Kind::add, x, where); }

  ScatterRowsOp op;
  Gradients &g;
  Value dy;
};

} // namespace

static LogicalResult differentiateScatterRows(ScatterRowsOp op, Gradients &g) {
  ScatterRule rule(op, g);
  switch (static_cast<ScatterKind>(op.getKind())) {
  case ScatterKind::add:
    rule.add();
    return success();
  case ScatterKind::replace:
    rule.replace();
    return success();
  case ScatterKind::multiply:
    rule.multiply();
    return success();
  case ScatterKind::maximum:
    rule.bound(/*isMaximum=*/true);
    return success();
  case ScatterKind::minimum:
    rule.bound(/*isMaximum=*/false);
    return success();
  }
  return op.emitOpError("NN47: expected a kind from 0 to 4");
}

void syncline::differentiate::attachIndexRules(MLIRContext *context) {
  attachRule<GatherRowsOp, differentiateGatherRows>(context);
  attachRule<ScatterRowsOp, differentiateScatterRows>(context);
  attachRule<TopKOp, differentiateTopK>(context);
}
