// Turns a plan's operations into rows of syncline/StepTables.h.
#include "codegen/step/StepOps.h"

#include "codegen/step/Text.h"
#include "ir/Try.h"
#include "ir/nn/NN.h"
#include "ir/plan/Plan.h"
#include "syncline/StepTables.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace syncline::codegen {

/// The part of a list that row number `row` holds, where each row holds at most `most` entries.
static llvm::ArrayRef<std::string> partOf(llvm::ArrayRef<std::string> list, size_t row,
                                          size_t most) {
  return list.drop_front(std::min(list.size(), row * most)).take_front(most);
}

static std::string rowText(const std::string &op, const std::string &layer,
                           std::vector<llvm::ArrayRef<std::string>> arrays) {
  while (!arrays.empty() && arrays.back().empty())
    arrays.pop_back();
  std::string text = "{Op::" + op + ", " + quoted(layer);
  for (llvm::ArrayRef<std::string> array : arrays)
    text += ", {" + llvm::join(array, ", ") + "}";
  return text + "},";
}

std::string TableRow::text() const {
  const llvm::ArrayRef<std::string> all(reals);
  std::string lines = rowText(
      op, layer, {partOf(operands, 0, Row::maxOperands), partOf(numbers, 0, Row::maxNumbers), all});
  for (size_t row = 1;
       row * Row::maxOperands < operands.size() || row * Row::maxNumbers < numbers.size(); ++row)
    lines += "\n    " + rowText("more", "",
                                {partOf(operands, row, Row::maxOperands),
                                 partOf(numbers, row, Row::maxNumbers)});
  return lines;
}

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
         (tensor.getRounded() ? ", true}," : "},");
}

std::string StepOps::declare(plan::BucketOp bucket) {
  return "{.id = " + std::to_string(bucket.getId()) +
         ", .channel = " + std::to_string(bucket.getChannel()) +
         ", .scheme = " + quoted(schemeName(bucket.getScheme())) +
         ", .offset = " + std::to_string(bucket.getOffset()) +
         ", .extent = " + std::to_string(bucket.getExtent()) + "},";
}

std::vector<std::string> StepOps::namesOf(plan::CallOp call, StringRef role) const {
  std::vector<std::string> found;
  for (auto [name, operand] :
       llvm::zip(call.getRoles().getAsRange<StringAttr>(), call->getOperands()))
    if (name.getValue() == role)
      found.push_back(nameOf.lookup(operand));
  return found;
}

std::vector<std::string> StepOps::namesOf(ValueRange tensors) const {
  std::vector<std::string> found;
  for (Value tensor : tensors)
    found.push_back(nameOf.lookup(tensor));
  return found;
}

/// The kind's number in a row, which is that in syncline/Step.h.
static std::int64_t numberOf(nn::Reduction kind) {
  switch (kind) {
  case nn::Reduction::sum:
    return static_cast<std::int64_t>(Reduction::sum);
  case nn::Reduction::mean:
    return static_cast<std::int64_t>(Reduction::mean);
  case nn::Reduction::maximum:
    return static_cast<std::int64_t>(Reduction::maximum);
  }
  llvm_unreachable("all kinds are listed");
}

/// Adds what a call has for a parameter of its kernel: "0", "false" or nothing where it is absent.
void StepOps::append(TableRow &row, plan::CallOp call, const plan::Parameter &parameter) {
  using Kind = plan::ParameterKind;
  const Attribute value = call->getAttr(parameter.name);
  const auto number = [&](std::int64_t entry) { row.numbers.push_back(std::to_string(entry)); };
  const auto boolean = [&](bool is) { row.numbers.push_back(is ? "true" : "false"); };
  switch (parameter.kind) {
  case Kind::in:
  case Kind::optionalIn:
  case Kind::out:
  case Kind::optionalOut:
  case Kind::skippableOut: {
    const std::vector<std::string> found = namesOf(call, parameter.name);
    return row.operands.push_back(found.empty() ? "0" : found.front());
  }
  case Kind::inList: {
    const std::vector<std::string> found = namesOf(call, parameter.name);
    llvm::append_range(row.operands, found);
    return number(static_cast<std::int64_t>(found.size()));
  }
  case Kind::window:
    return row.numbers.push_back(windows.nameOf(call));
  case Kind::activation:
    return boolean(value && cast<nn::ActivationAttr>(value).getValue() == nn::Activation::relu);
  case Kind::reduction:
    return number(value ? numberOf(cast<nn::ReductionAttr>(value).getValue()) : 0);
  case Kind::flag:
    return boolean(value != nullptr);
  case Kind::integer:
    return number(value ? cast<IntegerAttr>(value).getInt() : 0);
  case Kind::sizes: {
    const auto sizes = dyn_cast_or_null<DenseI64ArrayAttr>(value);
    number(sizes ? sizes.size() : 0);
    for (std::int64_t i = 0; sizes && i < sizes.size(); ++i)
      number(sizes[i]);
    return;
  }
  case Kind::real:
    return row.reals.push_back(
        realLiteral(value ? cast<FloatAttr>(value).getValueAsDouble() : 0.0));
  }
}

/// A row that names a bucket.
static TableRow ofBucket(StringRef op, std::uint64_t bucket) {
  TableRow row(op, "");
  row.numbers.push_back(std::to_string(bucket));
  return row;
}

FailureOr<std::string> StepOps::loop(plan::PointwiseOp op) {
  SYNCLINE_TRY_MLIR(loop, kernels.nameOf(op));
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
        TableRow row(plan::stringifyKernel(call.getCallee()), call.getLayer());
        for (const plan::Parameter &parameter : plan::rowOf(call.getCallee()).parameters)
          append(row, call, parameter);
        return row.text();
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
