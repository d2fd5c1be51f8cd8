// Rules P25 to P27, about stored values and samples: a run reads samples, values and predictions
// by these.
#include "passes/check/PlanFacts.h"

#include "ir/Refusal.h"
#include "ir/nn/NN.h"
#include "ir/plan/Plan.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <optional>

using namespace mlir;

namespace syncline::check {

namespace {

llvm::ArrayRef<std::int64_t> shapeOf(plan::TensorOp tensor) {
  return cast<MemRefType>(tensor.getType()).getShape();
}

/// Rule P25: inputs, targets and the output hold the batch.
LogicalResult checkBatch(const PlanFacts &facts) {
  plan::ProgramOp program = facts.program;
  for (plan::TensorOp tensor : facts.tensors) {
    const plan::Space space = tensor.getSpace();
    if (space != plan::Space::input && space != plan::Space::target && !tensor.getOutput())
      continue;
    if (!shapeOf(tensor).empty() &&
        shapeOf(tensor)[0] == static_cast<std::int64_t>(program.getBatch()))
      continue;
    InFlightDiagnostic diagnostic = refuseOp(tensor) // the user's model may mix its samples
                                    << "P25: expected the batch, " << program.getBatch()
                                    << ", as first dimension of '" << tensor.getName() << "', got "
                                    << tensor.getType();
    diagnostic.attachNote(program.getLoc()) << "the program";
    return diagnostic;
  }
  return success();
}

/// The operand of the softmax that makes the version; the version itself where no softmax does.
Version beneathSoftmax(const PlanFacts &facts, Version version) {
  plan::CallOp writer = facts.writerOf(version);
  if (!writer || writer.getCallee() != plan::Kernel::softmax)
    return version;
  const Step &step = facts.steps[version.writer];
  return facts.sourceOf(facts.readBy(version.writer, step.reads.front()));
}

/// Whether the loss is computed from the output, or from what that is the softmax of.
bool isComputedFrom(const PlanFacts &facts, std::int64_t loss, plan::TensorOp output) {
  const auto end = static_cast<std::int64_t>(facts.steps.size());
  const Version compared = facts.sourceOf(facts.readBy(loss, facts.steps[loss].reads.front())),
                predicted = facts.sourceOf(facts.readBy(end, output));
  return compared.key() == predicted.key() ||
         compared.key() == beneathSoftmax(facts, predicted).key();
}

InFlightDiagnostic rejectOutput(const PlanFacts &facts, std::int64_t loss, plan::TensorOp output) {
  InFlightDiagnostic diagnostic = refuseOp(output) << "P25: "; // the model may cause this
  diagnostic.attachNote(facts.steps[loss].op->getLoc()) << "the loss";
  return diagnostic;
}

/// Rule P25: the output has as many predictions as there are targets.
LogicalResult checkPredictions(const PlanFacts &facts, std::int64_t step, plan::TensorOp output) {
  auto loss = cast<plan::CallOp>(facts.steps[step].op);
  if (loss.getCallee() != plan::Kernel::crossEntropy || facts.steps[step].reads.size() < 2)
    return success();
  plan::TensorOp target = facts.steps[step].reads[1];
  const auto shape = shapeOf(output), labels = shapeOf(target);
  const std::int64_t targets = cast<MemRefType>(target.getType()).getNumElements();
  const bool isLast = shape.size() > 1 && shape.drop_back() == labels;
  if (shape.size() < 2 ||
      (cast<MemRefType>(output.getType()).getNumElements() != targets * shape[1] && !isLast))
    return rejectOutput(facts, step, output)
           << "expected classes as second or last dimension of the output for each of " << targets
           << " targets";
  return success();
}

/// Rule P25: a program whose loss compares with a target has one output.
LogicalResult checkOutput(const PlanFacts &facts) {
  plan::TensorOp output;
  bool hasTarget = false;
  for (plan::TensorOp tensor : facts.tensors) {
    hasTarget |= tensor.getSpace() == plan::Space::target;
    if (!tensor.getOutput())
      continue;
    if (output || tensor.getSpace() != plan::Space::arena) {
      InFlightDiagnostic diagnostic = tensor.emitOpError("P25: expected one output, in the arena");
      if (output)
        diagnostic.attachNote(output.getLoc()) << "another one";
      return diagnostic;
    }
    output = tensor;
  }
  if (!hasTarget)
    return success();
  std::optional<std::int64_t> other; // a loss that is computed from something else
  bool isScored = false;
  for (auto [number, step] : llvm::enumerate(facts.steps)) {
    auto call = dyn_cast<plan::CallOp>(step.op);
    if (!call || (call.getCallee() != plan::Kernel::crossEntropy &&
                  call.getCallee() != plan::Kernel::meanSquaredError))
      continue;
    if (!output)
      return call.emitOpError("P25: computes a loss, but no tensor is the program's output");
    const auto loss = static_cast<std::int64_t>(number);
    if (!isComputedFrom(facts, loss, output)) {
      other = loss;
      continue;
    }
    isScored = true;
    if (failed(checkPredictions(facts, loss, output)))
      return failure();
  }
  if (other && !isScored)
    return rejectOutput(facts, *other, output)
           << "the output '" << output.getName() << "' is not what the loss is computed from";
  return success();
}

/// Rule P25: a step reports one loss.
LogicalResult checkReported(const PlanFacts &facts) {
  plan::ProgramOp program = facts.program;
  std::int64_t losses = 0;
  for (const Step &step : facts.steps)
    losses += isa<plan::LossOp>(step.op) ? 1 : 0;
  if (losses != 1)
    return program.emitOpError("P25: expected one loss that is reported, got ") << losses;
  return success();
}

/// Rule P26: a space ends where its last tensor ends.
LogicalResult checkSpaces(const PlanFacts &facts) {
  plan::ProgramOp program = facts.program;
  std::int64_t ends[plan::getMaxEnumValForSpace() + 1] = {};
  for (plan::TensorOp tensor : facts.tensors) {
    std::int64_t &last = ends[static_cast<int>(tensor.getSpace())];
    last = std::max(last, end(tensor));
  }
  for (std::uint64_t i = 0; i <= plan::getMaxEnumValForSpace(); ++i) {
    const StringRef space = plan::stringifySpace(static_cast<plan::Space>(i));
    const std::int64_t size = program.getSpaces().getAs<IntegerAttr>(space).getInt();
    if (size != ends[i])
      return program.emitOpError("P26: space '")
             << space << "' has " << size << " bytes, but what lies in it ends at byte " << ends[i];
  }
  return success();
}

/// Rule P26: lifetimes name operations that exist.
LogicalResult checkLifetimes(const PlanFacts &facts) {
  const auto steps = static_cast<std::int64_t>(facts.steps.size());
  for (plan::TensorOp tensor : facts.tensors)
    if (auto live = tensor.getLive(); live && ((*live)[0] < 0 || (*live)[1] >= steps))
      return tensor.emitOpError("P26: '")
             << tensor.getName() << "' lives in [" << (*live)[0] << ", " << (*live)[1]
             << "], expected operations from 0 to " << steps - 1;
  return success();
}

/// Rule P26: its members fill a bucket's interval, each reserved up to the next aligned offset.
LogicalResult checkIntervals(const PlanFacts &facts) {
  llvm::StringMap<plan::TensorOp> gradients;
  for (plan::TensorOp tensor : facts.tensors) {
    if (tensor.getSpace() != plan::Space::gradients)
      continue;
    const std::int64_t needed = static_cast<std::int64_t>(
        llvm::alignTo(plan::denseBytes(cast<MemRefType>(tensor.getType())), plan::alignment));
    if (static_cast<std::int64_t>(tensor.getReserve()) != needed)
      return tensor.emitOpError("P26: reserves ")
             << tensor.getReserve() << " bytes, expected " << needed;
    gradients[tensor.getName()] = tensor;
  }
  for (auto [number, bucket] : facts.buckets) {
    std::int64_t filled = 0;
    for (StringRef name : plan::BucketOp(bucket).getMembers().getAsValueRange<StringAttr>())
      filled += partOf(bucket, gradients.lookup(name));
    if (filled != static_cast<std::int64_t>(plan::BucketOp(bucket).getExtent()))
      return plan::BucketOp(bucket).emitOpError("P26: has an extent of ")
             << plan::BucketOp(bucket).getExtent() << " bytes, but its members fill " << filled;
  }
  return success();
}

bool isStored(plan::TensorOp tensor) {
  return tensor.getSpace() == plan::Space::parameters || tensor.getSpace() == plan::Space::state;
}

/// Rule P27: the initial value of one tensor.
LogicalResult checkBeginning(plan::TensorOp tensor) {
  const auto reject = [&](const llvm::Twine &what) {
    return tensor.emitOpError("P27: '") << tensor.getName() << "' " << what;
  };
  if (tensor.getFixed() && (tensor.getSpace() != plan::Space::state || !tensor.getValues()))
    return reject("is fixed, expected a state with 'values'");
  const int ways = (tensor.getValues() ? 1 : 0) + (tensor.getInitAttr() ? 1 : 0);
  if (!isStored(tensor))
    return ways == 0 ? success()
                     : LogicalResult(reject("is no parameter or state, and has values to begin"));
  if (ways != 1)
    return reject("is expected to begin with 'values' or 'init', one of them");
  if (tensor.getValues())
    return static_cast<std::int64_t>(*tensor.getValues()) >= 0
               ? success()
               : LogicalResult(reject("has values before the file begins"));
  if (isa<nn::InitAttr>(tensor.getInitAttr()))
    return success();
  auto elements = dyn_cast<DenseElementsAttr>(tensor.getInitAttr());
  auto type = cast<MemRefType>(tensor.getType());
  if (!elements || elements.getType().getShape() != type.getShape() ||
      elements.getElementType() != type.getElementType())
    return reject("begins with what is neither '#nn.init' nor elements of its type");
  return success();
}

/// Rule P27: constants keep the values that they begin with.
LogicalResult checkConstants(const PlanFacts &facts) {
  for (plan::TensorOp tensor : facts.tensors)
    if (const auto writers = facts.writers.lookup(tensor);
        plan::isConstant(tensor) && !writers.empty())
      return reject(facts.steps[writers.front()].op,
                    "P27: writes '" + tensor.getName() + "', which is a constant", tensor,
                    "declared here");
  return success();
}

/// Rule P27: names and offsets in the file of values.
LogicalResult checkStored(const PlanFacts &facts) {
  llvm::StringMap<plan::TensorOp> names;
  llvm::SmallVector<plan::TensorOp, 0> inFile;
  for (plan::TensorOp tensor : facts.tensors) {
    if (failed(checkBeginning(tensor)))
      return failure();
    if (!isStored(tensor))
      continue;
    if (auto [place, isNew] = names.try_emplace(tensor.getName(), tensor); !isNew) {
      InFlightDiagnostic diagnostic = tensor.emitOpError("P27: '")
                                      << tensor.getName() << "' is stored twice";
      diagnostic.attachNote(place->second.getLoc()) << "first here";
      return diagnostic;
    }
    if (tensor.getValues())
      inFile.push_back(tensor);
  }
  llvm::stable_sort(
      inFile, [](plan::TensorOp a, plan::TensorOp b) { return *a.getValues() < *b.getValues(); });
  for (std::size_t i = 1; i < inFile.size(); ++i) {
    plan::TensorOp before = inFile[i - 1], after = inFile[i];
    const std::int64_t from = *before.getValues();
    if (static_cast<std::int64_t>(*after.getValues()) - from >=
        plan::denseBytes(cast<MemRefType>(before.getType())))
      continue;
    InFlightDiagnostic diagnostic = after.emitOpError("P27: the values of '")
                                    << after.getName() << "' overlap those of '" << before.getName()
                                    << "'";
    diagnostic.attachNote(before.getLoc()) << "declared here";
    return diagnostic;
  }
  return success();
}

} // namespace

LogicalResult checkStorage(const PlanFacts &facts) {
  return failure(failed(checkBatch(facts)) || failed(checkOutput(facts)) ||
                 failed(checkReported(facts)) || failed(checkSpaces(facts)) ||
                 failed(checkLifetimes(facts)) || failed(checkIntervals(facts)) ||
                 failed(checkStored(facts)) || failed(checkConstants(facts)));
}

} // namespace syncline::check
