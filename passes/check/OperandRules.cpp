// Rule P28: the operands of each operation fit together. The verifier of the nn operation that a
// call comes from judges the call: this file builds that operation again from the call's operands
// and attributes, so that the rules of ir/nn/SPEC.md are written once.
#include "passes/check/PlanFacts.h"

#include "ir/nn/NN.h"
#include "ir/nn/Shapes.h"
#include "ir/plan/Kernels.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"

#include <limits>

using namespace mlir;

namespace syncline::check {

namespace {

RankedTensorType tensorOf(Value operand) {
  auto type = cast<MemRefType>(operand.getType());
  return RankedTensorType::get(type.getShape(), type.getElementType());
}

/// The dimensions of a memref.
nn::DimsRef shapeOf(Value operand) { return cast<MemRefType>(operand.getType()).getShape(); }
Type elementOf(Value operand) { return cast<MemRefType>(operand.getType()).getElementType(); }

class CallRules {
public:
  explicit CallRules(plan::CallOp call) : call(call), row(plan::rowOf(call.getCallee())) {}

  LogicalResult check() {
    auto role = call.getRoles().getAsRange<StringAttr>().begin();
    if (failed(assign(row.ins, call.getIns(), role)) ||
        failed(assign(row.outs, call.getOuts(), role)) || failed(checkTypes()) ||
        failed(checkWindow()))
      return failure();
    // Only dw tells how large the kernel is.
    if (call.getCallee() == plan::Kernel::convBackwardWeights && !find("dw"))
      return checkBiasGradient();
    return verifyOperation();
  }

private:
  InFlightDiagnostic reject() {
    return call.emitOpError("P28: ")
           << plan::stringifyKernel(call.getCallee()) << " '" << call.getLayer() << "': ";
  }

  Value find(StringRef role) const {
    for (const auto &[name, operand] : byRole)
      if (name == role)
        return operand;
    return {};
  }

  /// Assigns roles to operands; roles must be names of the list, in the list's order.
  template <typename Roles>
  LogicalResult assign(llvm::ArrayRef<plan::Parameter> expected, OperandRange operands,
                       Roles &role) {
    for (Value operand : operands) {
      const StringRef given = (*role++).getValue();
      while (!expected.empty() && expected.front().isOptional() && expected.front().name != given)
        expected = expected.drop_front();
      if (expected.empty() || expected.front().name != given)
        return reject() << "takes no operand '" << given << "' at this place";
      if (expected.front().kind != plan::ParameterKind::inList)
        expected = expected.drop_front();
      byRole.emplace_back(given, operand);
    }
    for (const plan::Parameter &missing : expected)
      if (!missing.isOptional() && !find(missing.name))
        return reject() << "expected an operand '" << missing.name << "'";
    return success();
  }

  /// Checks the types that backends compute with: f32, labels, ids and lengths of i64, masks and
  /// workspaces of ui8 or i32. A move's operands have one type.
  LogicalResult checkTypes() {
    const bool movesNumbers = row.isMove && elementOf(byRole.front().second).isInteger(64);
    for (const auto &[role, operand] : byRole) {
      const Type type = elementOf(operand);
      const bool isNumber = movesNumbers || role == "ids" || role == "lengths" ||
                            (role == "target" && call.getCallee() == plan::Kernel::crossEntropy);
      const bool isMemory = role == "workspace" || role == "mask";
      const bool isIndex = role == "indices" && call.getCallee() != plan::Kernel::topK;
      const bool fits = isNumber   ? type.isInteger(64)
                        : isIndex  ? type.isInteger(64) || type.isF32()
                        : isMemory ? type.isUnsignedInteger(8) || type.isInteger(32)
                                   : type.isF32();
      if (!fits)
        return reject() << "expected elements of "
                        << (isNumber   ? "i64"
                            : isMemory ? "ui8 or i32"
                                       : "f32")
                        << " in '" << role << "', got " << type;
    }
    return success();
  }

  llvm::ArrayRef<std::int64_t> list(StringRef name) {
    auto attribute = call->getAttrOfType<DenseI64ArrayAttr>(name);
    return attribute ? attribute.asArrayRef() : llvm::ArrayRef<std::int64_t>();
  }

  /// Checks windows: libraries count a window's positions in 32 bits, and a pooling needs an
  /// element in every window.
  LogicalResult checkWindow() {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    for (StringRef name : {"kernel", "strides", "dilations", "pads_begin", "pads_end"})
      for (std::int64_t entry : list(name))
        if (entry < 0 || entry > most)
          return reject() << "expected '" << name << "' from 0 to " << most << ", got " << entry;
    const auto kernel = list("kernel"), dilations = list("dilations"), begin = list("pads_begin");
    if (kernel.size() == dilations.size() && kernel.size() == begin.size())
      for (auto [size, dilation, pad] : llvm::zip(kernel, dilations, begin))
        if ((size - 1) * dilation < pad)
          return reject() << "expected every window to hold an element, got a padding of " << pad
                          << " before a kernel of " << size;
    return success();
  }

  LogicalResult checkBiasGradient() {
    Value dy = find("dy"), dbias = find("dbias");
    if (!dbias || shapeOf(dy).size() < 2 || shapeOf(dbias) != shapeOf(dy).slice(1, 1))
      return reject() << "expected a bias gradient of one element per output channel";
    return success();
  }

  /// The type of an optional result that the call does not have.
  Type typeOfMissing(StringRef role) {
    if (call.getCallee() != plan::Kernel::recurrentBackward)
      return tensorOf(find(role == "dx" ? "x" : "scale"));
    const RankedTensorType weights = tensorOf(find("r"));
    if (role == "dr" || (role == "dbias" && weights.getRank() != 3))
      return weights;
    if (role == "dbias")
      return RankedTensorType::get({weights.getDimSize(0), 2 * weights.getDimSize(1)},
                                   weights.getElementType());
    return tensorOf(find("initial"));
  }

  /// Builds the operation and verifies it. Its operands are states, since batch normalization
  /// requires states for some.
  LogicalResult verifyOperation() {
    Block scratch;
    OpBuilder builder(call.getContext());
    builder.setInsertionPointToEnd(&scratch);
    OperationState state(call.getLoc(), row.operation);
    for (Value operand : call.getIns())
      state.operands.push_back(
          builder.create<nn::StateOp>(call.getLoc(), tensorOf(operand), "", nullptr, nullptr));
    for (const plan::Parameter &result : row.outs)
      if (Value operand = find(result.name))
        state.types.push_back(tensorOf(operand));
      else if (result.kind == plan::ParameterKind::skippableOut)
        state.types.push_back(typeOfMissing(result.name));
    for (NamedAttribute attribute : call->getDiscardableAttrs())
      state.attributes.push_back(attribute);
    std::string reason;
    {
      ScopedDiagnosticHandler handler(call.getContext(), [&](Diagnostic &diagnostic) {
        if (reason.empty())
          reason = diagnostic.str();
      });
      if (succeeded(verify(builder.create(state))))
        return success();
    }
    constexpr StringRef after = "' op "; // follows the operation's name, which is cut off
    return reject()
           << StringRef(reason).substr(StringRef(reason).find(after)).drop_front(after.size());
  }

  plan::CallOp call;
  const plan::KernelRow &row;
  llvm::SmallVector<std::pair<StringRef, Value>, 8> byRole;
};

/// Rule P28 for a loop: operands broadcast to the results' one shape, and the body has their types.
LogicalResult checkLoop(plan::PointwiseOp loop) {
  const nn::DimsRef shape = shapeOf(loop.getOuts().front());
  Block &body = loop.getBody().front();
  for (auto [operand, argument] : llvm::zip(loop.getIns(), body.getArguments())) {
    llvm::Expected<nn::Dims> together = nn::broadcastShape(shapeOf(operand), shape);
    const bool fits = static_cast<bool>(together) && llvm::ArrayRef(*together) == shape;
    llvm::consumeError(together.takeError());
    if (!fits || argument.getType() != elementOf(operand))
      return loop.emitOpError("P28: loop '")
             << loop.getLayer() << "': operand " << operand.getType() << " does not fit the body's "
             << argument.getType() << " and a result of " << nn::toString(shape);
  }
  for (auto [operand, value] : llvm::zip(loop.getOuts(), body.getTerminator()->getOperands()))
    if (shapeOf(operand) != shape || value.getType() != elementOf(operand))
      return loop.emitOpError("P28: loop '")
             << loop.getLayer() << "': result " << operand.getType() << " does not fit the body's "
             << value.getType() << " and a result of " << nn::toString(shape);
  return success();
}

} // namespace

LogicalResult checkOperands(const PlanFacts &facts) {
  for (const Step &step : facts.steps) {
    if (auto call = dyn_cast<plan::CallOp>(step.op); call && failed(CallRules(call).check()))
      return failure();
    if (auto loop = dyn_cast<plan::PointwiseOp>(step.op); loop && failed(checkLoop(loop)))
      return failure();
    if (auto loss = dyn_cast<plan::LossOp>(step.op))
      if (!elementOf(loss.getValue()).isF32() || nn::elementCount(shapeOf(loss.getValue())) != 1)
        return loss.emitOpError("P28: expected one element of f32, got ")
               << loss.getValue().getType();
  }
  return success();
}

} // namespace syncline::check
