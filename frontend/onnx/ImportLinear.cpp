// Conv, Gemm, MatMul.
#include "frontend/onnx/OpTable.h"
#include "frontend/onnx/WindowAttributes.h"

#include "onnx/onnx_pb.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

/// Whether operand `i` is zeros that nodes compute. PyTorch 2.14 exports a convolution without bias
/// so, in three dimensions with a shape that ONNX does not allow.
static bool isComputedZeros(NodeImport &node, unsigned i) {
  if (!node.hasInput(i) || node.tensor(i).getDefiningOp<nn::ParameterOp>())
    return false;
  const ConstantTensor *known = node.constant(i);
  return known && known->isReal() &&
         llvm::all_of(known->reals, [](double value) { return value == 0; });
}

static LogicalResult importConv(NodeImport &node) {
  Value x = node.tensor(0), w = node.tensor(1), bias = node.optionalTensor(2);
  nn::DimsRef xDims = shapeOf(x), wDims = shapeOf(w);
  if (xDims.size() < 3 || xDims.size() != wDims.size())
    return node.error("expected x and w of one rank of at least 3, got " + nn::toString(xDims) +
                      " and " + nn::toString(wDims));
  if (auto kernel = node.integers("kernel_shape"); kernel && *kernel != wDims.drop_front(2))
    return node.error("kernel_shape " + nn::toString(*kernel) + " differs from the weights' " +
                      nn::toString(wDims.drop_front(2)));
  SYNCLINE_TRY_MLIR(window, readWindow(node, xDims.drop_front(2), wDims.drop_front(2)));
  std::int64_t groups = node.integer("group", 1);
  if (groups < 1 || groups > wDims[0])
    return node.error("expected at least 1 group and at most one an output channel, got " +
                      llvm::Twine(groups));
  SYNCLINE_TRY_MLIR(type, node.type(nn::convShape(xDims, wDims, window->ref(), groups), x));
  if (bias && shapeOf(bias) != nn::DimsRef{wDims[0]} && isComputedZeros(node, 2))
    bias = {};
  if (bias && shapeOf(bias) != nn::DimsRef{wDims[0]})
    return node.error("expected a bias of " + llvm::Twine(wDims[0]) + " elements, got " +
                      nn::toString(shapeOf(bias)));
  auto conv = node.create<nn::ConvOp>(*type, x, w, bias, window->strides, window->dilations,
                                      window->padsBegin, window->padsEnd,
                                      static_cast<std::uint64_t>(groups), nn::Activation::none);
  return node.define(conv.getY());
}

/// Steps over a transpose of the last two dimensions, which is free inside a product, and
/// flips `transposed`.
static Value peelTranspose(Value value, bool &transposed) {
  auto transpose = value.getDefiningOp<nn::TransposeOp>();
  if (!transpose)
    return value;
  nn::Dims order(transpose.getPermutation());
  if (order.size() < 2)
    return value;
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  for (size_t i = 0; i < order.size(); ++i)
    if (order[i] != static_cast<std::int64_t>(i))
      return value;
  transposed = !transposed;
  return transpose.getX();
}

FailureOr<Value> frontend::createMatmul(NodeImport &node, Value a, bool transposeA, Value b,
                                        bool transposeB, Value bias) {
  a = peelTranspose(a, transposeA);
  b = peelTranspose(b, transposeB);
  SYNCLINE_TRY_MLIR(type,
                    node.type(nn::matmulShape(shapeOf(a), transposeA, shapeOf(b), transposeB), a));
  if (bias) {
    SYNCLINE_TRY_MLIR(sum, node.type(nn::broadcastShape(shapeOf(bias), type->getShape()), a));
    if (*sum != *type)
      return node.error("bias " + nn::toString(shapeOf(bias)) + " does not broadcast to " +
                        nn::toString(type->getShape()));
  }
  return node.create<nn::MatmulOp>(*type, a, b, bias, transposeA, transposeB, nn::Activation::none)
      .getY();
}

static Value scaled(NodeImport &node, Value value, double factor) {
  if (factor == 1)
    return value;
  return node.create<nn::BinaryOp>(value.getType(), nn::BinaryKind::mul, value,
                                   node.scalar(factor, value));
}

// y = alpha·op(a)·op(b) + beta·c
static LogicalResult importGemm(NodeImport &node) {
  double alpha = node.real("alpha", 1), beta = node.real("beta", 1);
  Value a = node.tensor(0), b = node.tensor(1), c = node.optionalTensor(2);
  if (shapeOf(a).size() != 2 || shapeOf(b).size() != 2)
    return node.error("expected matrices, got " + nn::toString(shapeOf(a)) + " and " +
                      nn::toString(shapeOf(b)));
  if (c)
    c = beta == 0 ? Value() : scaled(node, c, beta);
  bool separate = c && alpha != 1;
  SYNCLINE_TRY_MLIR(product, createMatmul(node, a, node.integer("transA", 0) != 0, b,
                                          node.integer("transB", 0) != 0, separate ? Value() : c));
  Value y = scaled(node, *product, alpha);
  if (!separate)
    return node.define(y);
  SYNCLINE_TRY_MLIR(type, node.type(nn::broadcastShape(shapeOf(c), shapeOf(y)), y));
  if (*type != y.getType())
    return node.error("c " + nn::toString(shapeOf(c)) + " does not broadcast to " +
                      nn::toString(shapeOf(y)));
  return node.define(node.create<nn::BinaryOp>(*type, nn::BinaryKind::add, y, c));
}

// numpy's matmul: a vector is a matrix of one row on the left, of one column on the right.
static LogicalResult importMatMul(NodeImport &node) {
  Value a = node.tensor(0), b = node.tensor(1);
  nn::DimsRef aDims = shapeOf(a), bDims = shapeOf(b);
  if (aDims.empty() || bDims.empty())
    return node.error("expected operands of rank 1 or more");
  bool isRow = aDims.size() == 1, isColumn = bDims.size() == 1;
  if (isRow)
    a = node.reshape(a, {1, aDims[0]});
  if (isColumn)
    b = node.reshape(b, {bDims[0], 1});
  SYNCLINE_TRY_MLIR(product, createMatmul(node, a, false, b, false, {}));
  nn::Dims dims(shapeOf(*product));
  if (isColumn)
    dims.pop_back();
  if (isRow)
    dims.erase(dims.end() - (isColumn ? 1 : 2));
  return node.define(node.reshape(*product, dims));
}

OpRows frontend::linearOps() {
  static constexpr OpRow rows[] = {
      {"Conv", {importConv, 2, 3}},
      {"Gemm", {importGemm, 2, 3}},
      {"MatMul", {importMatMul, 2, 2}},
  };
  return rows;
}
