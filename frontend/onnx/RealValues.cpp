// Integers as floating-point values, since steps compute with no others.
#include "frontend/onnx/ElementType.h"
#include "frontend/onnx/FoldConstants.h"
#include "frontend/onnx/GraphValues.h"
#include "frontend/onnx/NodeImport.h"
#include "ir/nn/NN.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

#include "onnx/onnx_pb.h"

#include <algorithm>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

static RankedTensorType realType(Type type) {
  return RankedTensorType::get(cast<RankedTensorType>(type).getShape(),
                               Float32Type::get(type.getContext()));
}

static Value realConstant(OpBuilder &builder, Location loc, nn::DimsRef dims,
                          llvm::ArrayRef<std::int64_t> integers) {
  llvm::SmallVector<float> values;
  for (std::int64_t value : integers)
    values.push_back(static_cast<float>(value));
  auto type = RankedTensorType::get(dims, builder.getF32Type());
  return builder.create<nn::ConstantOp>(loc, type,
                                        DenseElementsAttr::get(type, llvm::ArrayRef(values)));
}

/// A value of integers that is an input, or an input's elements in another place: the same of an
/// input that holds them as f32. Null for other values.
Value GraphValues::realOf(Value integers) {
  if (Value known = reals.lookup(integers))
    return known;
  Operation *op = integers.getDefiningOp();
  OpBuilder after(op->getContext());
  after.setInsertionPointAfter(op);
  Value real;
  if (auto input = dyn_cast<nn::InputOp>(op)) {
    auto own = after.create<nn::InputOp>(op->getLoc(), realType(integers.getType()),
                                         after.getStringAttr(input.getName() + " as f32"),
                                         input.getNameAttr());
    real = own;
    layout.set(real, layout.of(integers));
  } else if (auto constant = dyn_cast<nn::ConstantOp>(op)) {
    llvm::SmallVector<std::int64_t> values;
    for (const APInt &value : cast<DenseElementsAttr>(constant.getValue()).getValues<APInt>())
      values.push_back(value.getBitWidth() == 1 ? value.getZExtValue() : value.getSExtValue());
    real = realConstant(after, op->getLoc(), shapeOf(integers), values);
    layout.set(real, layout.of(integers));
  } else if (isa<nn::ReshapeOp, nn::TransposeOp, nn::SliceOp, nn::BroadcastOp, nn::ConcatOp>(op)) {
    IRMapping moved;
    for (Value operand : op->getOperands()) {
      moved.map(operand, realOf(operand));
      if (!moved.lookup(operand))
        return {};
    }
    after.setInsertionPointAfter(op);
    Operation *copy = after.clone(*op, moved);
    real = copy->getResult(0);
    real.setType(realType(real.getType()));
    layout.set(real, layout.of(integers));
  }
  return reals[integers] = real;
}

Value GraphValues::real(const std::string &name) {
  std::string root = name;
  Entry *entry = resolve(root);
  const auto realOfConstant = [&](const ConstantTensor &constant) {
    return realConstant(builder, NameLoc::get(builder.getStringAttr(root)), constant.dims,
                        constant.ints);
  };
  if (entry && entry->constant && !entry->stored && !entry->constant->isReal()) {
    if (!isSaneShape(entry->constant->dims, 1)) {
      fail("constant '" + root + "' has no elements");
      return {};
    }
    Value known = realOfConstant(*entry->constant);
    if (const BatchLayout::Place numbers = layout.ofSampleNumbers(*entry->constant))
      layout.setSampleNumbers(known, numbers);
    else
      layout.set(known, layout.of(*entry->constant));
    return known;
  }
  if (entry && entry->repeated && !entry->repeated->values.isReal())
    return repeat(root, realOfConstant(entry->repeated->values), *entry->repeated);
  Value value = tensor(name);
  return !value || isa<FloatType>(elementOf(value)) ? value : realOf(value);
}

Value GraphValues::knownAs(const std::string &name, int type) {
  std::string root = name;
  Entry *entry = resolve(root);
  if (entry && entry->repeated)
    return repeat(root, constantTensor(root, castTo(entry->repeated->values, type)),
                  *entry->repeated);
  const ConstantTensor *known = constant(name);
  return known ? constantTensor(root, castTo(*known, type)) : Value();
}

std::optional<WholeBounds> frontend::rangeOf(int type) {
  const auto bits = static_cast<unsigned>(8 * elementBytes(type));
  if (isUnsignedElement(type))
    return WholeBounds{0, llvm::maxIntN(std::min(bits + 1, 64u))};
  if (type == onnx::TensorProto::INT8 || type == onnx::TensorProto::INT16)
    return WholeBounds{llvm::minIntN(bits), llvm::maxIntN(bits)};
  return std::nullopt;
}

void GraphValues::setWhole(const std::string &name, int type, std::optional<WholeBounds> bounds) {
  entries[name].wholeType = type;
  entries[name].bounds = bounds;
}

int GraphValues::wholeType(const std::string &name) {
  std::string root = name;
  Entry *entry = resolve(root);
  if (!entry || entry->wholeType != 0)
    return entry ? entry->wholeType : 0;
  const RankedTensorType type = typeOf(name);
  return type ? elementNumber(type.getElementType()) : 0;
}

bool GraphValues::isWhole(const std::string &name) {
  std::string root = name;
  Entry *entry = resolve(root);
  if (!entry)
    return false;
  const RankedTensorType type = typeOf(name);
  return entry->wholeType != 0 || (type && !isa<FloatType>(type.getElementType()));
}

std::optional<WholeBounds> GraphValues::boundsOf(const std::string &name) {
  constexpr std::int64_t exact = 1 << 24;
  std::string root = name;
  Entry *entry = resolve(root);
  if (!entry)
    return std::nullopt;
  std::optional<WholeBounds> bounds = entry->bounds;
  if (entry->constant && !entry->constant->ints.empty()) {
    const auto [least, most] =
        std::minmax_element(entry->constant->ints.begin(), entry->constant->ints.end());
    bounds = WholeBounds{*least, *most};
  } else if (entry->tensor && elementOf(entry->tensor).isInteger(1)) {
    bounds = WholeBounds{0, 1};
  }
  if (!bounds)
    bounds = rangeOf(wholeType(root));
  const bool isExact = bounds && bounds->least >= -exact && bounds->most <= exact;
  return isExact ? bounds : std::nullopt;
}
