// DFT: a product by cosines and sines, which are computed at import.
#include "frontend/onnx/ElementType.h"
#include "frontend/onnx/IndexedRows.h"
#include "frontend/onnx/OpTable.h"

#include <algorithm>
#include <cmath>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

/// The most elements of a transform's matrix: 1,024 complex numbers to as many.
static constexpr std::int64_t mostFactors = 1 << 22;

namespace {

/// `size` numbers become `terms` numbers. A number has one part, which is real, or two.
struct Transform {
  std::int64_t length, size, terms, partsIn, partsOut;
  bool isInverse, isOneSided;

  std::int64_t rows() const { return size * partsIn; }
  std::int64_t columns() const { return terms * partsOut; }
  /// The number of its matrix's elements, or another one above `mostFactors`.
  std::int64_t factors() const {
    const std::int64_t n = std::min(size, mostFactors), k = std::min(terms, mostFactors);
    return n * partsIn * k * partsOut;
  }

  /// The factor of part `p` of number n in part `q` of number k.
  double factor(std::int64_t n, std::int64_t p, std::int64_t k, std::int64_t q) const {
    const bool isCutOff = n >= (isInverse && isOneSided ? length / 2 + 1 : length);
    if (isCutOff)
      return 0;
    const std::int64_t turn = n * k % length;
    const double angle = 2 * M_PI * static_cast<double>(turn) / static_cast<double>(length);
    if (p == q)
      return weight(n) * (4 * turn == length || 4 * turn == 3 * length ? 0 : std::cos(angle));
    const double sine = 2 * turn == length ? 0 : std::sin(angle);
    return weight(n) * ((p == 0) == isInverse ? sine : -sine);
  }

private:
  /// How much number n counts. A number of a one-sided spectrum stands for its conjugate too.
  double weight(std::int64_t n) const {
    if (!isInverse)
      return 1;
    const bool isTwice = isOneSided && n != 0 && 2 * n != length;
    return (isTwice ? 2.0 : 1.0) / static_cast<double>(length);
  }
};

} // namespace

/// Operand `i`, which is a constant integer; unset where the node has none.
static FailureOr<std::optional<std::int64_t>> integerAt(NodeImport &node, unsigned i,
                                                        llvm::StringRef what) {
  if (!node.hasInput(i))
    return std::optional<std::int64_t>();
  const ConstantTensor *value = node.constant(i);
  if (!value || value->isReal() || value->size() != 1)
    return node.error("expected a constant integer as " + what + ", got '" + node.inputName(i) +
                      "'");
  return std::optional<std::int64_t>(value->ints[0]);
}

/// The transform along dimension `axis` of `dims`.
static FailureOr<Transform> readTransform(NodeImport &node, nn::DimsRef dims, std::int64_t axis) {
  Transform of{};
  of.size = dims[static_cast<size_t>(axis)];
  of.partsIn = dims.back();
  of.isInverse = node.integer("inverse", 0) != 0;
  of.isOneSided = node.integer("onesided", 0) != 0;
  const bool isReal = of.isOneSided && of.isInverse;
  const std::int64_t least = isReal ? 2 : 1, most = of.isOneSided ? least : 2;
  if (of.partsIn < least || of.partsIn > most)
    return node.error("expected a last dimension of " + llvm::Twine(least) +
                      (most > least ? " or 2" : "") + ", got shape " + nn::toString(dims));
  SYNCLINE_TRY_MLIR(length, integerAt(node, 1, "the length"));
  of.length = length->value_or(isReal ? 2 * (of.size - 1) : of.size);
  if (of.length < 1)
    return node.error("expected a length of at least 1, got " + llvm::Twine(of.length));
  of.terms = of.isOneSided && !of.isInverse ? of.length / 2 + 1 : of.length;
  of.partsOut = isReal ? 1 : 2;
  if (of.factors() > mostFactors)
    return node.error("expected a matrix of at most " + llvm::Twine(mostFactors) +
                      " elements, got " + llvm::Twine(of.rows()) + " rows and " +
                      llvm::Twine(of.terms) + " terms of " + llvm::Twine(of.partsOut));
  return of;
}

static Value matrixOf(NodeImport &node, const Transform &of, Type element) {
  ConstantTensor matrix;
  matrix.type = elementNumber(element);
  matrix.dims = {of.rows(), of.columns()};
  for (std::int64_t row = 0; row < of.rows(); ++row)
    for (std::int64_t column = 0; column < of.columns(); ++column)
      matrix.reals.push_back(of.factor(row / of.partsIn, row % of.partsIn, column / of.partsOut,
                                       column % of.partsOut));
  return node.create<nn::ConstantOp>(RankedTensorType::get(matrix.dims, element),
                                     toAttribute(matrix, element.getContext()));
}

static LogicalResult importFourier(NodeImport &node) {
  Value x = node.tensor(0);
  nn::Dims dims(shapeOf(x));
  if (dims.size() < 2)
    return node.error("expected numbers in the last of at least 2 dimensions, got shape " +
                      nn::toString(dims));
  std::int64_t asked = node.integer("axis", 1);
  if (node.opset() >= 20) {
    SYNCLINE_TRY_MLIR(operand, integerAt(node, 2, "the axis"));
    asked = operand->value_or(-2);
  }
  SYNCLINE_TRY_MLIR(axis, node.axis(asked, dims.size()));
  const auto last = static_cast<std::int64_t>(dims.size()) - 1;
  if (*axis == last)
    return node.error("expected an axis before the last, which has the parts of each number");
  SYNCLINE_TRY_MLIR(of, readTransform(node, dims, *axis));
  // The axis is exchanged with the last before the parts, and back.
  nn::Dims order;
  for (std::int64_t d = 0; d <= last; ++d)
    order.push_back(d);
  std::swap(order[static_cast<size_t>(*axis)], order[dims.size() - 2]);
  x = createTranspose(node, x, order);
  dims = nn::Dims(shapeOf(x));
  nn::Dims rows(nn::DimsRef(dims).drop_back(2));
  if (rows.empty())
    rows.push_back(1);
  rows.push_back(of->rows());
  SYNCLINE_TRY_MLIR(y, createMatmul(node, node.reshape(x, rows), false,
                                    matrixOf(node, *of, elementOf(x)), false, {}));
  dims[dims.size() - 2] = of->terms;
  dims.back() = of->partsOut;
  return node.define(createTranspose(node, node.reshape(*y, dims), order));
}

OpRows frontend::fourierOps() {
  static constexpr OpRow rows[] = {{"DFT", {importFourier, 1, 1}}};
  return rows;
}
