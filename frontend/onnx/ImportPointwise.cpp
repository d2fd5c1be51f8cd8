// Elementwise operators.
#include "frontend/onnx/OpTable.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include "onnx/onnx_pb.h"

#include <cmath>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

static LogicalResult createUnary(NodeImport &node, nn::UnaryKind kind, double alpha = 0,
                                 double beta = 0) {
  Value x = node.tensor(0);
  return node.define(
      node.create<nn::UnaryOp>(x.getType(), kind, x, llvm::APFloat(alpha), llvm::APFloat(beta)));
}

static Value apply(NodeImport &node, nn::UnaryKind kind, Value x, double alpha = 0) {
  return node.create<nn::UnaryOp>(x.getType(), kind, x, llvm::APFloat(alpha), llvm::APFloat(0.0));
}

const nn::UnaryRow *frontend::findUnary(llvm::StringRef op) {
  const auto isNamed = [&](const nn::UnaryRow &row) {
    return llvm::convertToCamelFromSnakeCase(stringifyUnaryKind(row.kind), true) == op;
  };
  const auto *found = llvm::find_if(nn::unaryRows(), isNamed);
  return found == nn::unaryRows().end() ? nullptr : found;
}

/// log(sigmoid(x)) as -log(1 + e⁻ˣ), which loses no digits where the sigmoid rounds to one, nor in
/// the derivative. PyTorch exports its logsigmoid as the two nodes. Null if x is no sigmoid.
static Value logOfSigmoid(NodeImport &node) {
  auto sigmoid = node.tensor(0).getDefiningOp<nn::UnaryOp>();
  if (!sigmoid || sigmoid.getKind() != nn::UnaryKind::sigmoid)
    return {};
  Value negative = apply(node, nn::UnaryKind::neg, sigmoid.getX());
  return apply(node, nn::UnaryKind::neg, apply(node, nn::UnaryKind::softplus, negative));
}

LogicalResult frontend::importUnary(NodeImport &node) {
  const nn::UnaryRow &row = *findUnary(node.op());
  if (row.kind == nn::UnaryKind::log)
    if (Value y = logOfSigmoid(node))
      return node.define(y);
  const double alpha = row.alpha ? node.real("alpha", *row.alpha) : 0;
  const double beta = row.beta ? node.real("beta", *row.beta) : 0;
  if (row.reference == nn::Reference::signOfResult && !(alpha >= 0))
    return node.error("expected an alpha that is not negative, got " + decimal(alpha));
  if (row.kind == nn::UnaryKind::celu && (alpha == 0 || !std::isfinite(alpha)))
    return node.error("expected an alpha that is finite and not 0, got " + decimal(alpha));
  return createUnary(node, row.kind, alpha, beta);
}

static LogicalResult importPow(NodeImport &node) {
  std::optional<double> exponent = node.number("exponent", 1);
  if (!exponent)
    return failure();
  if (*exponent == 1)
    return node.defineAlias();
  if (*exponent == 0 || !std::isfinite(*exponent))
    return node.error("expected an exponent that is finite and not 0, got " + decimal(*exponent));
  return createUnary(node, nn::UnaryKind::pow, *exponent);
}

// Bounds are attributes before opset 11, operands since.
static LogicalResult importClip(NodeImport &node) {
  std::optional<double> low = node.number("min", 1), high = node.number("max", 2);
  if (node.failed())
    return failure();
  if (low && high && !(*low <= *high))
    return node.error("expected min <= max, got " + decimal(*low) + " and " + decimal(*high));
  const auto &semantics = cast<FloatType>(elementOf(node.tensor(0))).getFloatSemantics();
  llvm::APFloat bound = llvm::APFloat::getLargest(semantics);
  bool inexact;
  bound.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &inexact);
  double largest = bound.convertToDouble();
  if (!low && !high)
    return node.defineAlias();
  if (low == 0.0 && high.value_or(largest) >= largest)
    return createUnary(node, nn::UnaryKind::relu);
  return createUnary(node, nn::UnaryKind::clip, low.value_or(-largest), high.value_or(largest));
}

FailureOr<Value> frontend::createBinary(NodeImport &node, nn::BinaryKind kind, Value a, Value b) {
  SYNCLINE_TRY_MLIR(type, node.type(nn::broadcastShape(shapeOf(a), shapeOf(b)), a));
  return node.create<nn::BinaryOp>(*type, kind, a, b).getResult();
}

/// Element by element, a or b being a number too.
static Value combine(NodeImport &node, nn::BinaryKind kind, Value a, Value b) {
  return node.create<nn::BinaryOp>(a.getType(), kind, a, b);
}

// x/2·(1 + erf(x/√2)), or x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))).
static LogicalResult importGelu(NodeImport &node) {
  using Kind = nn::BinaryKind;
  const std::string approximate = node.text("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    return node.error("expected approximate 'none' or 'tanh', got '" + approximate + "'");
  Value x = node.tensor(0), inner = x;
  auto number = [&](double value) { return node.scalar(value, x); };
  if (approximate == "tanh") {
    Value cube = apply(node, nn::UnaryKind::pow, x, 3);
    inner = combine(node, Kind::add, x, combine(node, Kind::mul, cube, number(0.044715)));
    inner = combine(node, Kind::mul, inner, number(std::sqrt(M_2_PI)));
    inner = apply(node, nn::UnaryKind::tanh, inner);
  } else {
    inner = apply(node, nn::UnaryKind::erf, combine(node, Kind::mul, x, number(M_SQRT1_2)));
  }
  Value half = combine(node, Kind::mul, x, number(0.5));
  return node.define(combine(node, Kind::mul, half, combine(node, Kind::add, inner, number(1))));
}

// gamma·elu(x), by the numbers of PyTorch's SELU, which ONNX rounds to 32 bits.
static LogicalResult importSelu(NodeImport &node) {
  const double alpha = node.real("alpha", 1.6732632423543772),
               gamma = node.real("gamma", 1.0507009873554805);
  if (!(alpha >= 0))
    return node.error("expected an alpha that is not negative, got " + decimal(alpha));
  Value x = node.tensor(0), elu = apply(node, nn::UnaryKind::elu, x, alpha);
  return node.define(combine(node, nn::BinaryKind::mul, elu, node.scalar(gamma, x)));
}

/// MatMul followed by Add of a parameter, as linear layers without Gemm are exported: one product
/// with a bias. Null when the operands are not that.
static Value foldBias(NodeImport &node, unsigned product, unsigned bias) {
  // The name must be MatMul's own and read once, so that no other node reads the product.
  const std::string &name = node.inputName(product);
  auto producer = node.state.index.producers.find(name);
  if (producer == node.state.index.producers.end() || node.uses(name) != 1 ||
      node.state.file.model->graph().node(producer->second).op_type() != "MatMul")
    return {};
  auto matmul = node.tensor(product).getDefiningOp<nn::MatmulOp>();
  Value b = node.tensor(bias);
  if (!matmul || matmul.getBias() ||
      !isa_and_nonnull<nn::ParameterOp, nn::StateOp>(b.getDefiningOp()))
    return {};
  if (shapeOf(b) != shapeOf(matmul.getY()).take_back(1))
    return {};
  matmul.getBiasMutable().assign(b); // stored tensors stand at the step's head
  return matmul.getY();
}

static LogicalResult importBinary(NodeImport &node) {
  using Kind = nn::BinaryKind;
  Kind kind = llvm::StringSwitch<Kind>(node.op())
                  .Case("Sub", Kind::sub)
                  .Case("Mul", Kind::mul)
                  .Case("Div", Kind::div)
                  .Case("PRelu", Kind::prelu)
                  .Default(Kind::add);
  if (kind == Kind::add)
    for (unsigned product : {0u, 1u})
      if (Value sum = foldBias(node, product, 1 - product))
        return node.define(sum);
  Value a = node.tensor(0), b = node.tensor(1);
  SYNCLINE_TRY_MLIR(y, createBinary(node, kind, a, b));
  if (kind == Kind::prelu && y->getType() != a.getType())
    return node.error("slope " + nn::toString(shapeOf(b)) + " does not broadcast to " +
                      nn::toString(shapeOf(a)));
  return node.define(*y);
}

static LogicalResult importSum(NodeImport &node) {
  FailureOr<Value> sum = node.tensor(0);
  for (unsigned i = 1; i < node.inputCount(); ++i) {
    if (!node.hasInput(i))
      return node.error("operand " + llvm::Twine(i + 1) + " is missing");
    sum = createBinary(node, nn::BinaryKind::add, *sum, node.tensor(i));
    if (failed(sum))
      return failure();
    node.state.values.layout.of(*sum); // all at once it would recurse as deep as there are operands
  }
  return node.define(*sum);
}

/// One where the condition holds, or where it does not, and zero elsewhere.
static Value maskOf(NodeImport &node, const ConstantTensor &condition, bool holds, Type element) {
  llvm::SmallVector<APFloat> values;
  for (std::int64_t value : condition.ints)
    values.push_back(
        cast<FloatAttr>(FloatAttr::get(element, (value != 0) == holds ? 1 : 0)).getValue());
  auto type = RankedTensorType::get(condition.dims, element);
  Value mask = node.create<nn::ConstantOp>(type, DenseElementsAttr::get(type, values));
  BatchLayout &layout = node.state.values.layout;
  layout.set(mask, layout.of(condition));
  return mask;
}

/// The shape of Where's result; empty where the operands do not broadcast.
static nn::Dims whereShape(const ConstantTensor &condition, Value yes, Value no) {
  llvm::Expected<nn::Dims> both = nn::broadcastShape(shapeOf(yes), shapeOf(no));
  llvm::Expected<nn::Dims> all =
      both ? nn::broadcastShape(condition.dims, *both) : both.takeError();
  if (all)
    return *all;
  llvm::consumeError(all.takeError());
  return {};
}

// The sum of two masked tensors; a masked element does not count even where it is not finite.
static LogicalResult importWhere(NodeImport &node) {
  const ConstantTensor *condition = node.constant(0);
  if (!condition || condition->isReal())
    return node.error("expected a constant condition, got '" + node.inputName(0) + "'");
  Value yes = node.tensor(1), no = node.tensor(2);
  if (!yes || !no || !isa<FloatType>(elementOf(yes)) || elementOf(yes) != elementOf(no))
    return node.error("expected floating-point operands of one element type");
  if (!isSaneShape(condition->dims, 1))
    return node.error("its condition has no elements");
  if (llvm::all_equal(condition->ints)) {
    const unsigned chosen = condition->ints[0] != 0 ? 1 : 2;
    const nn::Dims dims = whereShape(*condition, yes, no);
    if (nn::DimsRef(dims) == shapeOf(chosen == 1 ? yes : no))
      return node.defineAlias(chosen);
  }
  auto masked = [&](Value value, bool holds) {
    return createBinary(node, nn::BinaryKind::mask, value,
                        maskOf(node, *condition, holds, elementOf(value)));
  };
  FailureOr<Value> first = masked(yes, true);
  SYNCLINE_TRY_MLIR(second, succeeded(first) ? masked(no, false) : FailureOr<Value>());
  FailureOr<Value> sum = createBinary(node, nn::BinaryKind::add, *first, *second);
  return failed(sum) ? failure() : node.define(*sum);
}

OpRows frontend::pointwiseOps() {
  static constexpr OpRow rows[] = {
      {"Add", {importBinary, 2, 2, false}}, {"Clip", {importClip, 1, 1}},
      {"Div", {importBinary, 2, 2, false}}, {"Gelu", {importGelu, 1, 1}},
      {"Mul", {importBinary, 2, 2, false}}, {"PRelu", {importBinary, 2, 2}},
      {"Pow", {importPow, 2, 1}},           {"Selu", {importSelu, 1, 1}},
      {"Sub", {importBinary, 2, 2, false}}, {"Sum", {importSum, 1, allOperands}},
      {"Where", {importWhere, 3, 0}},
  };
  return rows;
}
