// Calls of the step builder, argument by argument.
#include "codegen/step/StepOps.h"

#include "codegen/step/Text.h"
#include "ir/nn/NN.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace syncline::codegen {

std::string StepOps::declare(plan::TensorOp tensor) {
  const bool isGradient = tensor.getSpace() == plan::Space::gradients;
  const std::string variable = names.unique(isGradient ? "d_" : "", tensor.getName());
  variables[tensor] = variable;
  auto type = cast<MemRefType>(tensor.getType());
  return variable + " = declare(step, " + quoted(tensor.getName()) +
         ", Space::" + plan::stringifySpace(tensor.getSpace()).str() +
         ", ElementType::" + plan::elementName(type.getElementType()).str() + ", " +
         braced(type.getShape()) + ", " + std::to_string(tensor.getOffset()) + ", " +
         std::to_string(tensor.getReserve()) + ");";
}

std::string StepOps::declare(plan::BucketOp bucket) {
  return "step.bucket({.id = " + std::to_string(bucket.getId()) +
         ", .channel = " + std::to_string(bucket.getChannel()) +
         ", .scheme = " + quoted(bucket.getScheme()) +
         ", .offset = " + std::to_string(bucket.getOffset()) +
         ", .extent = " + std::to_string(bucket.getExtent()) +
         ", .start = " + realLiteral(bucket.getStart().convertToDouble()) +
         ", .end = " + realLiteral(bucket.getEnd().convertToDouble()) + "});";
}

std::string StepOps::list(ValueRange tensors) const {
  std::string text;
  for (Value tensor : tensors)
    text += (text.empty() ? "" : ", ") + variables.lookup(tensor);
  return "std::array{" + text + "}";
}

namespace {

/// An operand by role, or an attribute: what a builder method's argument is made from.
class Arguments {
public:
  Arguments(plan::CallOp call, const llvm::DenseMap<Value, std::string> &variables,
            Windows &windows)
      : call(call), windows(windows) {
    llvm::SmallVector<Value> operands(call.getOperands());
    for (auto [role, operand] : llvm::zip(call.getRoles().getAsRange<StringAttr>(), operands))
      byRole.try_emplace(role.getValue(), variables.lookup(operand));
  }

  /// "none" when absent.
  std::string tensor(StringRef role) const {
    auto found = byRole.find(role);
    return found == byRole.end() ? "none" : found->second;
  }
  std::string window() const { return windows.nameOf(call); }
  std::string flag(StringRef name) const { return call->hasAttr(name) ? "true" : "false"; }
  std::string real(StringRef name) const {
    auto value = call->getAttrOfType<FloatAttr>(name);
    return realLiteral(value ? value.getValueAsDouble() : 0.0);
  }
  std::string integer(StringRef name) const {
    auto value = call->getAttrOfType<IntegerAttr>(name);
    return std::to_string(value ? value.getInt() : 0);
  }
  std::string array(StringRef name) const {
    auto value = call->getAttrOfType<DenseI64ArrayAttr>(name);
    return braced(value ? value.asArrayRef() : llvm::ArrayRef<std::int64_t>());
  }
  std::string activation() const {
    auto value = call->getAttrOfType<nn::ActivationAttr>("activation");
    return value && value.getValue() == nn::Activation::relu ? "Activation::relu"
                                                             : "Activation::none";
  }
  std::string reduction() const {
    auto value = call->getAttrOfType<nn::ReductionAttr>("kind");
    return value && value.getValue() == nn::Reduction::mean ? "Reduction::mean" : "Reduction::sum";
  }
  std::string lrn() const {
    return integer("size") + ", " + real("alpha") + ", " + real("beta") + ", " + real("bias");
  }

private:
  plan::CallOp call;
  Windows &windows;
  llvm::StringMap<std::string> byRole;
};

/// The arguments behind the layer's name, in the order of StepBuilder.
std::string argumentsOf(plan::Kernel kernel, const Arguments &a) {
  const auto tensors = [&](std::initializer_list<StringRef> roles) {
    std::string text;
    for (StringRef role : roles)
      text += (text.empty() ? "" : ", ") + a.tensor(role);
    return text;
  };
  switch (kernel) {
  case plan::Kernel::conv:
    return tensors({"x", "w", "bias", "y"}) + ", " + a.window() + ", " + a.activation();
  case plan::Kernel::convBackwardData:
    return tensors({"dy", "w", "dx"}) + ", " + a.window();
  case plan::Kernel::convBackwardWeights:
    return tensors({"x", "dy", "dw", "dbias"}) + ", " + a.window();
  case plan::Kernel::matmul:
    return a.tensor("a") + ", " + a.flag("transpose_a") + ", " + a.tensor("b") + ", " +
           a.flag("transpose_b") + ", " + tensors({"bias", "y"}) + ", " + a.activation();
  case plan::Kernel::batchNorm:
    return tensors({"x", "scale", "shift", "runningMean", "runningVariance", "y", "mean",
                    "variance", "workspace"}) +
           ", " + a.real("epsilon") + ", " + a.real("momentum") + ", " + a.activation();
  case plan::Kernel::batchNormBackward:
    return tensors(
               {"x", "scale", "mean", "variance", "workspace", "dy", "dx", "dscale", "dshift"}) +
           ", " + a.real("epsilon") + ", " + a.activation();
  case plan::Kernel::maxPool:
    return tensors({"x", "y", "workspace"}) + ", " + a.window();
  case plan::Kernel::maxPoolBackward:
    return tensors({"dy", "workspace", "dx"}) + ", " + a.window();
  case plan::Kernel::averagePool:
    return tensors({"x", "y"}) + ", " + a.window();
  case plan::Kernel::averagePoolBackward:
    return tensors({"dy", "dx"}) + ", " + a.window();
  case plan::Kernel::lrn:
    return tensors({"x", "y"}) + ", " + a.lrn();
  case plan::Kernel::lrnBackward:
    return tensors({"x", "dy", "dx"}) + ", " + a.lrn();
  case plan::Kernel::softmax:
    return tensors({"x", "y"}) + ", " + a.integer("axis") + ", " + a.flag("logarithm");
  case plan::Kernel::softmaxBackward:
    return tensors({"y", "dy", "dx"}) + ", " + a.integer("axis") + ", " + a.flag("logarithm");
  case plan::Kernel::crossEntropy:
    return tensors({"logits", "target", "loss", "dlogits"});
  case plan::Kernel::meanSquaredError:
    return tensors({"y", "target", "loss", "dy"});
  case plan::Kernel::concat:
    return a.tensor("y") + ", " + a.integer("axis"); // the list of inputs comes before
  case plan::Kernel::slice:
    return tensors({"x", "y"}) + ", " + a.array("starts") + ", " + a.array("steps");
  case plan::Kernel::sliceBackward:
    return tensors({"dy", "dx"}) + ", " + a.array("starts") + ", " + a.array("steps");
  case plan::Kernel::pad:
    return tensors({"x", "y"}) + ", " + a.array("begins") + ", " + a.real("value");
  case plan::Kernel::transpose:
    return tensors({"x", "y"}) + ", " + a.array("permutation");
  case plan::Kernel::reshape:
    return tensors({"x", "y"});
  case plan::Kernel::reduce:
    return a.reduction() + ", " + tensors({"x", "y"}) + ", " + a.array("axes");
  case plan::Kernel::dropout:
    return tensors({"x", "y", "mask"}) + ", " + a.real("ratio");
  case plan::Kernel::dropoutBackward:
    return tensors({"dy", "mask", "dx"}) + ", " + a.real("ratio");
  }
  return "";
}

} // namespace

FailureOr<std::string> StepOps::call(plan::CallOp op) {
  std::string text =
      "step." + plan::stringifyKernel(op.getCallee()).str() + "(" + quoted(op.getLayer()) + ", ";
  if (op.getCallee() == plan::Kernel::concat)
    text += list(op.getIns()) + ", ";
  return text + argumentsOf(op.getCallee(), Arguments(op, variables, windows)) + ");";
}

FailureOr<std::string> StepOps::loop(plan::PointwiseOp op) {
  FailureOr<Kernels::Expressions> expressions = kernels.expressionsOf(op);
  if (failed(expressions))
    return failure();
  const std::string info = std::string("{.flat = ") + (op.getFlat() ? "true" : "false") +
                           ", .keepsZero = " + (op.getKeepsZero() ? "true" : "false") +
                           (expressions->rounded.empty() ? "" : ", .rounded = ") +
                           expressions->rounded + "}";
  const std::string ins = op.getIns().empty() ? "{}" : list(op.getIns());
  return "step.pointwise(" + quoted(op.getLayer()) + ", " + expressions->kernel + ", " + ins +
         ", " + list(op.getOuts()) + ", " + info + ");";
}

FailureOr<std::string> StepOps::statement(Operation *op) {
  using Text = FailureOr<std::string>;
  const auto numbered = [](StringRef name, std::uint64_t bucket) -> Text {
    return "step." + name.str() + "(" + std::to_string(bucket) + ");";
  };
  return llvm::TypeSwitch<Operation *, Text>(op)
      .Case([&](plan::PhaseOp phase) -> Text {
        return "step.phase(\"" + plan::stringifyPhase(phase.getPhase()).str() + "\");";
      })
      .Case([&](plan::CallOp inner) { return call(inner); })
      .Case([&](plan::PointwiseOp inner) { return loop(inner); })
      .Case([&](plan::LossOp loss) -> Text {
        return "step.loss(" + variables.lookup(loss.getValue()) + ");";
      })
      .Case([&](plan::IssueOp issue) { return numbered("issue", issue.getBucket()); })
      .Case([&](plan::GatherOp gather) -> Text {
        return "step.gather(" + std::to_string(gather.getBucket()) + ", " + list(gather.getIns()) +
               ", " + list(gather.getOuts()) + ");";
      })
      .Case([&](plan::WaitOp wait) { return numbered("wait", wait.getBucket()); })
      .Case([&](plan::UpdateOp update) { return numbered("update", update.getBucket()); })
      .Default([](Operation *other) -> Text {
        return other->emitError("no generated code for '") << other->getName() << "'", failure();
      });
}

} // namespace syncline::codegen
