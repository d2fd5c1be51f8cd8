// Turns a plan's operations into rows of syncline/StepTables.h.
#include "codegen/step/StepOps.h"

#include "codegen/step/TableRow.h"
#include "codegen/step/Text.h"
#include "ir/nn/NN.h"
#include "ir/plan/RoundedAttr.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace syncline::codegen {

std::string StepOps::declare(plan::TensorOp tensor) {
  const bool isGradient = tensor.getSpace() == plan::Space::gradients;
  declared.push_back(names.unique(isGradient ? "d_" : "", tensor.getName()));
  nameOf[tensor] = declared.back();
  auto type = cast<MemRefType>(tensor.getType());
  return "{" + quoted(tensor.getName()) +
         ", Space::" + plan::stringifySpace(tensor.getSpace()).str() +
         ", ElementType::" + plan::elementName(type.getElementType()).str() + ", " +
         std::to_string(type.getRank()) + ", " + braced(type.getShape()) + ", " +
         std::to_string(tensor.getOffset()) + ", " + std::to_string(tensor.getReserve()) +
         (plan::isRounded(tensor) ? ", true}," : "},");
}

std::string StepOps::declare(plan::BucketOp bucket) {
  return "{.id = " + std::to_string(bucket.getId()) +
         ", .channel = " + std::to_string(bucket.getChannel()) +
         ", .scheme = " + quoted(schemeName(bucket.getScheme())) +
         ", .offset = " + std::to_string(bucket.getOffset()) +
         ", .extent = " + std::to_string(bucket.getExtent()) +
         ", .start = " + realLiteral(bucket.getStart().convertToDouble()) +
         ", .end = " + realLiteral(bucket.getEnd().convertToDouble()) + "},";
}

std::vector<std::string> StepOps::namesOf(ValueRange tensors) const {
  std::vector<std::string> found;
  for (Value tensor : tensors)
    found.push_back(nameOf.lookup(tensor));
  return found;
}

namespace {

/// Fills the row of a call from its operands by role and its attributes.
class CallRow {
public:
  CallRow(plan::CallOp call, const llvm::DenseMap<Value, std::string> &nameOf, Windows &windows)
      : call(call), windows(windows),
        row(plan::stringifyKernel(call.getCallee()), call.getLayer()) {
    llvm::SmallVector<Value> operands(call.getOperands());
    for (auto [role, operand] : llvm::zip(call.getRoles().getAsRange<StringAttr>(), operands))
      byRole.try_emplace(role.getValue(), nameOf.lookup(operand));
  }

  /// Adds the tensors that have these roles; "0" stands for one that is absent.
  CallRow &tensors(std::initializer_list<StringRef> roles) {
    for (StringRef role : roles) {
      auto found = byRole.find(role);
      row.operands.push_back(found == byRole.end() ? "0" : found->second);
    }
    return *this;
  }
  CallRow &tensors(std::vector<std::string> list) {
    llvm::append_range(row.operands, list);
    return *this;
  }
  CallRow &number(std::int64_t value) {
    row.numbers.push_back(std::to_string(value));
    return *this;
  }
  CallRow &integer(StringRef name) {
    auto value = call->getAttrOfType<IntegerAttr>(name);
    return number(value ? value.getInt() : 0);
  }
  CallRow &boolean(bool value) {
    row.numbers.push_back(value ? "true" : "false");
    return *this;
  }
  CallRow &flag(StringRef name) { return boolean(call->hasAttr(name)); }
  CallRow &window() {
    row.numbers.push_back(windows.nameOf(call));
    return *this;
  }
  CallRow &relu() {
    auto value = call->getAttrOfType<nn::ActivationAttr>("activation");
    return boolean(value && value.getValue() == nn::Activation::relu);
  }
  CallRow &mean() {
    auto value = call->getAttrOfType<nn::ReductionAttr>("kind");
    return boolean(value && value.getValue() == nn::Reduction::mean);
  }
  CallRow &sizes(StringRef name) {
    auto value = call->getAttrOfType<DenseI64ArrayAttr>(name);
    const auto sizes = value ? value.asArrayRef() : llvm::ArrayRef<std::int64_t>();
    number(static_cast<std::int64_t>(sizes.size()));
    for (std::int64_t size : sizes)
      number(size);
    return *this;
  }
  CallRow &real(StringRef name) {
    auto value = call->getAttrOfType<FloatAttr>(name);
    row.reals.push_back(realLiteral(value ? value.getValueAsDouble() : 0.0));
    return *this;
  }
  CallRow &lrn() { return integer("size").real("alpha").real("beta").real("bias"); }

  std::string text() const { return row.text(); }

private:
  plan::CallOp call;
  Windows &windows;
  TableRow row;
  llvm::StringMap<std::string> byRole;
};

/// Adds the call's operands and attributes in the kernel's order of syncline/StepTables.h.
CallRow &fill(CallRow &row, plan::Kernel kernel) {
  switch (kernel) {
  case plan::Kernel::conv:
    return row.tensors({"x", "w", "bias", "y"}).window().relu();
  case plan::Kernel::convBackwardData:
    return row.tensors({"dy", "w", "dx"}).window();
  case plan::Kernel::convBackwardWeights:
    return row.tensors({"x", "dy", "dw", "dbias"}).window();
  case plan::Kernel::matmul:
    return row.tensors({"a", "b", "bias", "y"}).flag("transpose_a").flag("transpose_b").relu();
  case plan::Kernel::batchNorm:
    return row
        .tensors({"x", "scale", "shift", "runningMean", "runningVariance", "y", "mean", "variance",
                  "workspace"})
        .relu()
        .real("epsilon")
        .real("momentum");
  case plan::Kernel::batchNormBackward:
    return row
        .tensors({"x", "scale", "mean", "variance", "workspace", "dy", "dx", "dscale", "dshift"})
        .relu()
        .real("epsilon");
  case plan::Kernel::maxPool:
    return row.tensors({"x", "y", "workspace"}).window();
  case plan::Kernel::maxPoolBackward:
    return row.tensors({"dy", "workspace", "dx"}).window();
  case plan::Kernel::averagePool:
    return row.tensors({"x", "y"}).window();
  case plan::Kernel::averagePoolBackward:
    return row.tensors({"dy", "dx"}).window();
  case plan::Kernel::layerNorm:
    return row.tensors({"x", "scale", "shift", "y"}).real("epsilon");
  case plan::Kernel::layerNormBackward:
    return row.tensors({"x", "scale", "dy", "dx", "dscale", "dshift"}).real("epsilon");
  case plan::Kernel::embedding:
    return row.tensors({"ids", "table", "y"});
  case plan::Kernel::embeddingBackward:
    return row.tensors({"ids", "dy", "onto", "dtable"});
  case plan::Kernel::lrn:
    return row.tensors({"x", "y"}).lrn();
  case plan::Kernel::lrnBackward:
    return row.tensors({"x", "dy", "dx"}).lrn();
  case plan::Kernel::softmax:
    return row.tensors({"x", "y"}).integer("axis").flag("logarithm");
  case plan::Kernel::softmaxBackward:
    return row.tensors({"y", "dy", "dx"}).integer("axis").flag("logarithm");
  case plan::Kernel::crossEntropy:
    return row.tensors({"logits", "target", "loss", "dlogits"});
  case plan::Kernel::meanSquaredError:
    return row.tensors({"y", "target", "loss", "dy"});
  case plan::Kernel::concat:
    return row.tensors({"y"}).integer("axis"); // the list of inputs and its length come before
  case plan::Kernel::slice:
    return row.tensors({"x", "y"}).sizes("starts").sizes("steps");
  case plan::Kernel::sliceBackward:
    return row.tensors({"dy", "dx"}).sizes("starts").sizes("steps");
  case plan::Kernel::pad:
    return row.tensors({"x", "y"}).sizes("begins").real("value");
  case plan::Kernel::transpose:
    return row.tensors({"x", "y"}).sizes("permutation");
  case plan::Kernel::reshape:
    return row.tensors({"x", "y"});
  case plan::Kernel::reduce:
    return row.tensors({"x", "y"}).mean().sizes("axes");
  case plan::Kernel::dropout:
    return row.tensors({"x", "y", "mask"}).real("ratio");
  case plan::Kernel::dropoutBackward:
    return row.tensors({"dy", "mask", "dx"}).real("ratio");
  }
  return row;
}

/// A row that names a bucket.
TableRow ofBucket(StringRef op, std::uint64_t bucket) {
  TableRow row(op, "");
  row.numbers.push_back(std::to_string(bucket));
  return row;
}

} // namespace

FailureOr<std::string> StepOps::loop(plan::PointwiseOp op) {
  FailureOr<std::string> loop = kernels.nameOf(op);
  if (failed(loop))
    return failure();
  TableRow row("pointwise", op.getLayer());
  row.operands = namesOf(op.getOperands()); // ins, then outs
  row.numbers = {*loop, std::to_string(op.getIns().size()), std::to_string(op.getOuts().size()),
                 op.getFlat() ? "true" : "false", op.getKeepsZero() ? "true" : "false"};
  return row.text();
}

FailureOr<std::string> StepOps::row(Operation *op) {
  using Text = FailureOr<std::string>;
  return llvm::TypeSwitch<Operation *, Text>(op)
      .Case([&](plan::PhaseOp phase) -> Text {
        return TableRow("phase", plan::stringifyPhase(phase.getPhase())).text();
      })
      .Case([&](plan::CallOp call) -> Text {
        CallRow row(call, nameOf, windows);
        if (call.getCallee() == plan::Kernel::concat)
          row.tensors(namesOf(call.getIns()))
              .number(static_cast<std::int64_t>(call.getIns().size()));
        return fill(row, call.getCallee()).text();
      })
      .Case([&](plan::PointwiseOp inner) { return loop(inner); })
      .Case([&](plan::LossOp loss) -> Text {
        TableRow row("loss", "");
        row.operands = namesOf(loss.getValue());
        return row.text();
      })
      .Case([&](plan::GatherOp gather) -> Text {
        TableRow row = ofBucket("gather", gather.getBucket());
        row.operands = namesOf(gather.getIns());
        llvm::append_range(row.operands, namesOf(gather.getOuts()));
        row.numbers.push_back(std::to_string(gather.getIns().size()));
        return row.text();
      })
      .Case(
          [&](plan::IssueOp issue) -> Text { return ofBucket("issue", issue.getBucket()).text(); })
      .Case([&](plan::AllGatherOp second) -> Text {
        return ofBucket("allGather", second.getBucket()).text();
      })
      .Case([&](plan::WaitOp wait) -> Text { return ofBucket("wait", wait.getBucket()).text(); })
      .Case([&](plan::UpdateOp update) -> Text {
        return ofBucket("update", update.getBucket()).text();
      })
      .Default([](Operation *other) -> Text {
        return other->emitError("no generated code for '") << other->getName() << "'", failure();
      });
}

} // namespace syncline::codegen
