// InstanceNormalization and GroupNormalization, as layer normalizations over groups of channels.
#include "frontend/onnx/OpTable.h"

#include "onnx/onnx_pb.h"

#include <algorithm>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

/// The operand for each channel or group, as a factor or summand of x with groups apart; null for
/// one that changes nothing: PyTorch writes a GroupNorm as an InstanceNormalization by ones and
/// zeros between Reshapes, and what is trained stands behind it.
static FailureOr<Value> spread(NodeImport &node, unsigned i, double neutral, bool isBetweenShapes,
                               nn::DimsRef dims) {
  const ConstantTensor *known = isBetweenShapes ? node.constant(i) : nullptr;
  if (known && std::ranges::all_of(known->reals, [&](double x) { return x == neutral; }))
    return Value();
  const Value value = node.tensor(i);
  const std::int64_t count = nn::elementCount(shapeOf(value));
  if (shapeOf(value).size() != 1 || (count != dims[1] && count != dims[1] * dims[2]))
    return node.error("expected one element for each of the " + llvm::Twine(dims[1] * dims[2]) +
                      " channels, got " + nn::toString(shapeOf(value)));
  return node.reshape(value, {dims[1], count / dims[1], 1});
}

/// Whether a Reshape makes the node's x.
static bool isBehindReshape(const NodeImport &node) {
  const auto &producers = node.state.index.producers;
  const auto producer = producers.find(node.state.values.rootOf(node.inputName(0)));
  return producer != producers.end() &&
         node.state.file.model->graph().node(producer->second).op_type() == "Reshape";
}

/// y = (x - mean)/sqrt(variance + epsilon)·scale + shift, mean and variance over each group.
static LogicalResult importGroups(NodeImport &node, std::int64_t groups, bool hasNumbers) {
  const double epsilon = node.real("epsilon", 1e-5);
  if (!(epsilon >= 0))
    return node.error("expected an epsilon that is not negative, got " + decimal(epsilon));
  const Value x = node.tensor(0);
  const nn::DimsRef shape = shapeOf(x);
  const std::int64_t channels = shape[1], each = channels / groups;
  const std::int64_t values = nn::elementCount(shape.drop_front(2));
  if (each * values == 1)
    return node.error("expected more than one value in a group, got x of shape " +
                      nn::toString(shape));
  const auto all = RankedTensorType::get({each * values}, elementOf(x));
  const Value ones = node.create<nn::ConstantOp>(
      all, DenseElementsAttr::get(all, FloatAttr::get(elementOf(x), 1.0)));
  const Value apart = node.reshape(x, {shape[0], groups, each * values});
  Value y =
      node.create<nn::LayerNormOp>(apart.getType(), apart, ones, Value(), llvm::APFloat(epsilon));
  const nn::Dims dims = {shape[0], groups, each, values};
  y = node.reshape(y, dims);
  for (auto [i, kind, neutral] :
       {std::tuple(1u, nn::BinaryKind::mul, 1.0), {2u, nn::BinaryKind::add, 0.0}}) {
    SYNCLINE_TRY_MLIR(operand, spread(node, i, neutral, hasNumbers, dims));
    if (*operand)
      y = node.create<nn::BinaryOp>(y.getType(), kind, y, *operand);
  }
  return node.define(node.reshape(y, shape));
}

static LogicalResult importInstanceNormalization(NodeImport &node) {
  if (node.dims(0).size() < 3)
    return node.error("expected x of rank 3 or more, got " + nn::toString(node.dims(0)));
  return importGroups(node, node.dims(0)[1], isBehindReshape(node));
}

// Scale and shift have an element a group before opset 21, and one a channel since.
static LogicalResult importGroupNormalization(NodeImport &node) {
  const std::int64_t groups = node.integer("num_groups", 0);
  const nn::DimsRef shape = node.dims(0);
  if (shape.size() < 2 || groups < 1 || shape[1] % groups != 0)
    return node.error("expected x of rank 2 or more and a num_groups that divides its channels, "
                      "got " +
                      nn::toString(shape) + " and " + llvm::Twine(groups));
  return importGroups(node, groups, /*hasNumbers=*/false);
}

OpRows frontend::groupNormOps() {
  static constexpr OpRow rows[] = {
      {"GroupNormalization", {importGroupNormalization, 3, 3}},
      {"InstanceNormalization", {importInstanceNormalization, 3, 3}},
  };
  return rows;
}
