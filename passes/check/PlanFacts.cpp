// Gathers a plan's facts. Facts that cannot be gathered break P13, P9, P4 or P7.
#include "passes/check/PlanFacts.h"

#include "syncline/RowsPart.h"

using namespace mlir;

namespace syncline::check {

// Rule P13: a body computes from its arguments and its own constants.
static LogicalResult checkBody(plan::PointwiseOp loop) {
  Block &body = loop.getBody().front();
  for (Operation &op : body)
    for (Value operand : op.getOperands())
      if (operand.getParentBlock() != &body) {
        InFlightDiagnostic diagnostic =
            op.emitError("P13: a loop body computes from its arguments and constants alone");
        diagnostic.attachNote(operand.getLoc()) << "this value comes from outside";
        return diagnostic;
      }
  return success();
}

static LogicalResult resolve(Operation *user, OperandRange operands,
                             llvm::SmallVectorImpl<plan::TensorOp> &tensors) {
  for (Value operand : operands) {
    auto tensor = operand.getDefiningOp<plan::TensorOp>();
    if (!tensor)
      return user->emitOpError("P9: expected a tensor declared by 'plan.tensor' as operand");
    tensors.push_back(tensor);
  }
  return success();
}

static LogicalResult accessFactors(plan::GatherOp gather, Step &step) {
  return failure(failed(resolve(gather, gather.getIns(), step.reads)) ||
                 failed(resolve(gather, gather.getOuts(), step.writes)));
}

static llvm::ArrayRef<std::int64_t> placesOf(const Places &places, std::int64_t bucket) {
  auto found = places.find(bucket);
  return found == places.end() ? llvm::ArrayRef<std::int64_t>() : found->second;
}

/// Adds what carried waits write: they stand before the gather that says so.
static LogicalResult gatherCarriedAccesses(PlanFacts &facts) {
  for (const auto &[bucket, waits] : facts.waits)
    for (std::int64_t issue : placesOf(facts.issues, bucket))
      for (std::int64_t wait : waits) {
        auto gather = dyn_cast<plan::GatherOp>(facts.steps[issue].op);
        if (gather && wait < issue &&
            failed(resolve(gather, gather.getOuts(), facts.steps[wait].writes)))
          return failure();
      }
  return success();
}

static void listAccesses(PlanFacts &facts) {
  for (auto [number, step] : llvm::enumerate(facts.steps)) {
    for (plan::TensorOp tensor : step.reads)
      facts.readers[tensor].push_back(static_cast<std::int64_t>(number));
    for (plan::TensorOp tensor : step.writes)
      facts.writers[tensor].push_back(static_cast<std::int64_t>(number));
  }
}

static bool isReshape(const Step &step) {
  auto call = dyn_cast<plan::CallOp>(step.op);
  return call && call.getCallee() == plan::Kernel::reshape && !step.reads.empty();
}

/// Looks through chains of reshapes once, so that nobody follows a long one again and again.
static void listReshapes(PlanFacts &facts) {
  for (auto [number, step] : llvm::enumerate(facts.steps))
    if (isReshape(step)) {
      const auto now = static_cast<std::int64_t>(number);
      const Version read = facts.readBy(now, step.reads.front());
      const auto before = facts.reshaped.find(read.writer);
      const Version source = before == facts.reshaped.end() ? read : before->second;
      facts.reshaped.try_emplace(now, source);
    }
}

/// Finds the gradients to which rows of other buckets are added, and the steps that do so.
static void listRowsParts(PlanFacts &facts) {
  for (const auto &[number, bucket] : facts.buckets)
    for (StringRef member : plan::BucketOp(bucket).getMembers().getAsValueRange<StringAttr>())
      if (isRowsPart(member))
        facts.rowsParts.try_emplace(std::string(parameterOf(member))).first->second.bucket = number;
  if (facts.rowsParts.empty())
    return;
  for (plan::TensorOp tensor : facts.tensors) {
    auto found = facts.rowsParts.find(tensor.getName().str());
    if (found == facts.rowsParts.end() || tensor.getSpace() != plan::Space::gradients)
      continue;
    RowsPart &part = found->second;
    part.gradient = tensor;
    for (std::int64_t writer : facts.writers.lookup(tensor)) {
      const Step &step = facts.steps[writer];
      if (!isa<plan::PointwiseOp>(step.op) || step.reads.size() != 2 ||
          llvm::count(step.reads, tensor) != 1)
        continue;
      part.sum = writer;
      part.rows = step.reads[step.reads[0] == tensor ? 1 : 0];
    }
  }
}

static LogicalResult gatherAccesses(const PlanFacts &facts, Step &step) {
  if (auto wait = dyn_cast<plan::WaitOp>(step.op))
    for (std::int64_t issue : placesOf(facts.issues, wait.getBucket()))
      if (auto gather = dyn_cast<plan::GatherOp>(facts.steps[issue].op))
        return accessFactors(gather, step);
  if (auto gather = dyn_cast<plan::GatherOp>(step.op))
    return accessFactors(gather, step);
  if (auto call = dyn_cast<plan::CallOp>(step.op))
    return failure(failed(resolve(call, call.getIns(), step.reads)) ||
                   failed(resolve(call, call.getOuts(), step.writes)));
  if (auto loop = dyn_cast<plan::PointwiseOp>(step.op))
    return failure(failed(checkBody(loop)) || failed(resolve(loop, loop.getIns(), step.reads)) ||
                   failed(resolve(loop, loop.getOuts(), step.writes)));
  if (isa<plan::LossOp>(step.op))
    return resolve(step.op, step.op->getOperands(), step.reads);
  return success();
}

static LogicalResult declareBucket(PlanFacts &facts, plan::BucketOp bucket) {
  auto [place, isNew] = facts.buckets.emplace(static_cast<std::int64_t>(bucket.getId()), bucket);
  if (isNew)
    return success();
  InFlightDiagnostic diagnostic = bucket.emitOpError("P4: bucket ")
                                  << bucket.getId() << " is declared twice";
  diagnostic.attachNote(place->second.getLoc()) << "first here";
  return diagnostic;
}

static LogicalResult placeBucketStep(PlanFacts &facts, Operation *op, std::int64_t number) {
  Places *places = nullptr;
  std::int64_t bucket = 0;
  if (auto issue = dyn_cast<plan::IssueOp>(op))
    places = &facts.issues, bucket = issue.getBucket();
  else if (auto gather = dyn_cast<plan::GatherOp>(op))
    places = &facts.issues, bucket = gather.getBucket();
  else if (auto allGather = dyn_cast<plan::AllGatherOp>(op))
    places = &facts.allGathers, bucket = allGather.getBucket();
  else if (auto wait = dyn_cast<plan::WaitOp>(op))
    places = &facts.waits, bucket = wait.getBucket();
  else if (auto update = dyn_cast<plan::UpdateOp>(op))
    places = &facts.updates, bucket = update.getBucket();
  if (!places)
    return success();
  if (!facts.buckets.count(bucket))
    return op->emitOpError("P7: bucket ") << bucket << " is not declared";
  (*places)[bucket].push_back(number);
  return success();
}

static std::int64_t common(plan::BucketOp bucket, plan::TensorOp tensor, std::int64_t bytes) {
  const auto begin = std::max(bucket.getOffset(), tensor.getOffset());
  return std::max<std::int64_t>(
      std::min<std::int64_t>(end(bucket), tensor.getOffset() + bytes) - begin, 0);
}

std::int64_t partOf(plan::BucketOp bucket, plan::TensorOp tensor) {
  return tensor ? common(bucket, tensor, tensor.getReserve()) : 0;
}

std::int64_t densePartOf(plan::BucketOp bucket, plan::TensorOp tensor) {
  return tensor ? common(bucket, tensor, plan::denseBytes(cast<MemRefType>(tensor.getType()))) : 0;
}

Version PlanFacts::readBy(std::int64_t step, plan::TensorOp tensor) const {
  auto found = writers.find(tensor);
  if (found == writers.end())
    return {tensor};
  const auto *after = llvm::lower_bound(found->second, step);
  return {tensor, after == found->second.begin() ? -1 : *std::prev(after)};
}

std::optional<Version> PlanFacts::gatheredFrom(Version version) const {
  if (version.writer < 0)
    return std::nullopt;
  const Step &step = steps[version.writer];
  if (!isa<plan::GatherOp, plan::WaitOp>(step.op))
    return std::nullopt;
  const auto place = llvm::find(step.writes, version.tensor) - step.writes.begin();
  if (auto wait = dyn_cast<plan::WaitOp>(step.op); wait && step.reads.empty()) {
    // It is carried: the gather of the step before, which is the same operation, read the factor.
    const std::int64_t gather = only(issues, wait.getBucket());
    return readBy(gather, steps[gather].reads[place]);
  }
  return readBy(version.writer, step.reads[place]);
}

plan::CallOp PlanFacts::writerOf(Version version) const {
  return version.writer < 0 ? plan::CallOp() : dyn_cast<plan::CallOp>(steps[version.writer].op);
}

Version PlanFacts::sourceOf(Version version, Copies through) const {
  // A carried wait leads to a later operation, of the step before; P29 excludes circles.
  for (std::size_t followed = 0; followed <= steps.size(); ++followed) {
    if (std::optional<Version> own = gatheredFrom(version)) {
      if (!through.gathers)
        return version;
      version = *own;
      continue;
    }
    if (auto reshape = reshaped.find(version.writer); reshape != reshaped.end()) {
      version = reshape->second;
      continue;
    }
    plan::CallOp writer = writerOf(version);
    const bool isCopy =
        writer && through.transposes && writer.getCallee() == plan::Kernel::transpose;
    if (!isCopy || steps[version.writer].reads.empty())
      return version;
    version = readBy(version.writer, steps[version.writer].reads.front());
  }
  return version;
}

LogicalResult reject(Operation *at, const llvm::Twine &message, Operation *other,
                     const llvm::Twine &note) {
  InFlightDiagnostic diagnostic = at->emitOpError(message);
  if (other)
    diagnostic.attachNote(other->getLoc()) << note;
  return diagnostic;
}

FailureOr<PlanFacts> gather(plan::ProgramOp program) {
  PlanFacts facts;
  facts.program = program;
  std::optional<plan::Phase> phase;
  for (Operation &op : program.getBody().front()) {
    if (!isa_and_nonnull<plan::PlanDialect>(op.getDialect()))
      return op.emitError("P13: expected an operation of the plan dialect, got '")
             << op.getName() << "'";
    if (auto tensor = dyn_cast<plan::TensorOp>(op))
      facts.tensors.push_back(tensor);
    if (auto bucket = dyn_cast<plan::BucketOp>(op); bucket && failed(declareBucket(facts, bucket)))
      return failure();
    if (auto begins = dyn_cast<plan::PhaseOp>(op))
      phase = begins.getPhase();
    if (!plan::executes(&op))
      continue;
    const auto number = static_cast<std::int64_t>(facts.steps.size());
    Step step{&op, {}, {}, phase};
    if (failed(gatherAccesses(facts, step)) || failed(placeBucketStep(facts, &op, number)))
      return failure();
    facts.steps.push_back(std::move(step));
  }
  if (failed(gatherCarriedAccesses(facts)))
    return failure();
  listAccesses(facts);
  listReshapes(facts);
  listRowsParts(facts);
  return facts;
}

} // namespace syncline::check
