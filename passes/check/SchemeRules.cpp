// Rules P14 to P18, P24 and P34: schemes whose messages are no plain sums, where messages stand.
#include "passes/check/PlanFacts.h"

#include "ir/cluster/Cluster.h"
#include "ir/plan/Plan.h"
#include "syncline/RowsPart.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace syncline::check {

namespace {

/// Judges one bucket. Precondition: P7, P8 and P11 hold.
class SchemeRules {
public:
  SchemeRules(const PlanFacts &facts, std::int64_t number, plan::BucketOp bucket)
      : facts(facts), number(number), bucket(bucket), issue(PlanFacts::only(facts.issues, number)),
        wait(PlanFacts::only(facts.waits, number)), update(PlanFacts::only(facts.updates, number)) {
    for (StringRef name : bucket.getMembers().getAsValueRange<StringAttr>()) {
      members.insert(name);
      if (isRowsPart(name)) { // the update of the gradient to which they are added
        plan::TensorOp gradient = facts.rowsOf(parameterOf(name))->gradient;
        update = PlanFacts::only(facts.updates, static_cast<std::int64_t>(*gradient.getBucket()));
        bringsPart = true;
      }
    }
  }

  LogicalResult check() {
    auto gather = dyn_cast<plan::GatherOp>(facts.steps[issue].op);
    const bool byFactors = plan::travelsByFactors(bucket);
    if (byFactors != static_cast<bool>(gather))
      return reject(facts.steps[issue].op,
                    "P14: " + llvm::Twine(byFactors ? "issues" : "gathers") + " bucket " +
                        llvm::Twine(number) + ", which travels by '" +
                        schemeName(bucket.getScheme()) + "'",
                    bucket, "declared here");
    if (gather && (failed(checkFactors()) || failed(checkReconstructed())))
      return failure();
    if (hasRows(bucket.getScheme()) && failed(checkRows()))
      return failure();
    return plan::updatesItself(bucket) ? checkUnread() : success();
  }

private:
  static llvm::ArrayRef<std::int64_t>
  stepsOf(const llvm::DenseMap<Operation *, llvm::SmallVector<std::int64_t, 4>> &accesses,
          plan::TensorOp tensor) {
    auto found = accesses.find(tensor);
    return found == accesses.end() ? llvm::ArrayRef<std::int64_t>() : found->second;
  }

  /// The first of the steps that lies between gather and wait; -1 where none does.
  std::int64_t inFlight(llvm::ArrayRef<std::int64_t> steps) const {
    for (std::int64_t step : steps)
      if (facts.isInFlight(number, step))
        return step;
    return -1;
  }

  /// Rule P15. P9 ensures that factors and gathered tensors live from gather to wait, since both
  /// operations read and write them.
  LogicalResult checkFactors() const {
    const Step &gather = facts.steps[issue];
    for (plan::TensorOp factor : gather.reads) {
      const plan::Space space = factor.getSpace();
      if (space == plan::Space::parameters || space == plan::Space::gradients)
        return reject(facts.steps[issue].op,
                      "P15: gathers '" + factor.getName() + "' of space '" +
                          plan::stringifySpace(space) + "', which messages and updates write",
                      factor, "declared here");
      auto step = inFlight(stepsOf(facts.writers, factor));
      if (step >= 0 && !facts.isCarried(number)) // a carried bucket's factors are copied
        return reject(facts.steps[step].op,
                      "P15: writes '" + factor.getName() + "' while bucket " + llvm::Twine(number) +
                          " gathers it",
                      gather.op, "gathered here");
    }
    for (plan::TensorOp all : gather.writes) {
      if (all.getSpace() != plan::Space::arena)
        return reject(facts.steps[issue].op,
                      "P15: expected what '" + all.getName() + "' holds in the arena", all,
                      "declared here");
      for (const auto *accesses : {&facts.readers, &facts.writers})
        if (auto step = inFlight(stepsOf(*accesses, all)); step >= 0)
          return reject(facts.steps[step].op,
                        "P15: touches '" + all.getName() + "' while bucket " + llvm::Twine(number) +
                            " is gathered into it",
                        gather.op, "gathered here");
    }
    return success();
  }

  bool isMember(plan::TensorOp tensor, plan::Space space) const {
    return tensor.getSpace() == space && members.contains(tensor.getName());
  }

  /// Calls `judge` with the bucket's members' tensors in a space until one call fails.
  template <typename Judge> LogicalResult forTensors(plan::Space space, Judge judge) const {
    for (plan::TensorOp tensor : facts.tensors)
      if (isMember(tensor, space) && failed(judge(tensor)))
        return failure();
    return success();
  }

  /// Rule P16: gradients are computed between wait and update, and only from gathered tensors.
  LogicalResult checkReconstructed() const {
    llvm::DenseSet<Operation *> ofAllRanks;
    for (plan::TensorOp all : facts.steps[issue].writes)
      ofAllRanks.insert(all);
    for (std::int64_t place = wait + 1; place < update; ++place) {
      const Step &step = facts.steps[place];
      if (addsRows(place))
        continue; // P35 judges it
      auto own = llvm::find_if(step.reads,
                               [&](plan::TensorOp tensor) { return !ofAllRanks.contains(tensor); });
      const bool isOfAllRanks = own == step.reads.end() && !step.reads.empty();
      for (plan::TensorOp tensor : step.writes) {
        if (isOfAllRanks)
          ofAllRanks.insert(tensor);
        else if (isMember(tensor, plan::Space::gradients))
          return rejectReconstructed(place, tensor,
                                     own == step.reads.end() ? plan::TensorOp() : *own);
        else
          ofAllRanks.erase(tensor);
      }
    }
    return checkReconstructedInTime();
  }

  /// Whether the step adds rows of another bucket to a gradient of this one.
  bool addsRows(std::int64_t step) const {
    return llvm::any_of(facts.rowsParts, [&](const auto &part) { return part.second.sum == step; });
  }

  /// Reports a breach of P16. `own`, the tensor that only this rank has, is null where the step
  /// reads nothing.
  LogicalResult rejectReconstructed(std::int64_t step, plan::TensorOp gradient,
                                    plan::TensorOp own) const {
    if (!own)
      return reject(facts.steps[step].op,
                    "P16: computes '" + gradient.getName() + "' from nothing that was gathered",
                    facts.steps[issue].op, "gathered here");
    return reject(facts.steps[step].op,
                  "P16: computes '" + gradient.getName() + "' from '" + own.getName() +
                      "', which is this rank's alone",
                  own, "declared here");
  }

  LogicalResult checkReconstructedInTime() const {
    return forTensors(plan::Space::gradients, [&](plan::TensorOp gradient) -> LogicalResult {
      auto writers = stepsOf(facts.writers, gradient);
      if (writers.empty())
        return reject(facts.steps[update].op,
                      "P16: updates bucket " + llvm::Twine(number) + ", but nothing computes '" +
                          gradient.getName() + "'",
                      gradient, "this gradient");
      for (std::int64_t step : writers)
        if (step < wait || step > update)
          return reject(
              facts.steps[step].op,
              "P16: writes '" + gradient.getName() + "' " +
                  (step < wait ? "before the factors of bucket " : "after the update of bucket ") +
                  llvm::Twine(number) + (step < wait ? " have arrived" : ""),
              facts.steps[step < wait ? wait : update].op,
              step < wait ? "waited for here" : "updated here");
      return success();
    });
  }

  /// Rule P34: the rows of an embedding, behind their numbers, as many as the bucket states.
  LogicalResult checkRows() const {
    const Step &gather = facts.steps[issue];
    const auto typeOf = [](plan::TensorOp tensor) { return cast<MemRefType>(tensor.getType()); };
    const auto stated = static_cast<std::int64_t>(plan::BucketOp(bucket).getRows().value_or(0));
    if (gather.reads.size() != 2 || !typeOf(gather.reads[0]).getElementType().isInteger(64) ||
        !typeOf(gather.reads[1]).getElementType().isF32())
      return reject(gather.op,
                    "P34: expected the numbers of rows as i64, and behind them the rows as f32",
                    bucket, "declared here");
    const llvm::ArrayRef<std::int64_t> ids = typeOf(gather.reads[0]).getShape(),
                                       rows = typeOf(gather.reads[1]).getShape();
    const std::int64_t found = typeOf(gather.reads[0]).getNumElements();
    plan::TensorOp named = gather.reads[1];
    if (found != stated || rows.size() <= ids.size() || rows.take_front(ids.size()) != ids)
      return reject(gather.op,
                    "P34: expected " + llvm::Twine(stated) +
                        " rows of each rank, as the bucket states, got " + llvm::Twine(found) +
                        " numbers of rows for '" + named.getName() + "'",
                    bucket, "declared here");
    return checkRowsAreAdded(gather);
  }

  /// Rule P34: one embedding's gradient is computed, from all that was gathered.
  LogicalResult checkRowsAreAdded(const Step &gather) const {
    std::int64_t sums = 0;
    for (std::int64_t place = wait + 1; place < update; ++place) {
      auto call = dyn_cast<plan::CallOp>(facts.steps[place].op);
      if (!call || call.getCallee() != plan::Kernel::embeddingBackward)
        continue;
      const llvm::ArrayRef<plan::TensorOp> reads = facts.steps[place].reads;
      const bool isOthers = llvm::none_of(
          reads, [&](plan::TensorOp read) { return llvm::is_contained(gather.writes, read); });
      if (bringsPart && isOthers)
        continue; // other buckets may arrive before the gradient's update
      if (!llvm::equal(reads, gather.writes))
        return reject(call,
                      "P34: adds up other rows than bucket " + llvm::Twine(number) + " brings",
                      gather.op, "gathered here");
      ++sums;
    }
    return sums == 1 ? success()
                     : reject(gather.op,
                              "P34: expected one 'embeddingBackward' of what is gathered, got " +
                                  llvm::Twine(sums),
                              bucket, "declared here");
  }

  /// Rule P17: from the issue on, the message may write parameters and leaves only a share of the
  /// summed gradients on each rank, so no step may read them.
  LogicalResult checkUnread() const {
    const auto judge = [&](plan::TensorOp tensor) -> LogicalResult {
      auto readers = stepsOf(facts.readers, tensor);
      if (readers.empty())
        return success();
      const bool isEarly = facts.isCarried(number) && readers.front() < wait;
      if (!isEarly && readers.back() < issue)
        return success();
      const bool isParameter = tensor.getSpace() == plan::Space::parameters;
      return reject(facts.steps[isEarly ? readers.front() : readers.back()].op,
                    "P17: reads " + llvm::Twine(isParameter ? "parameter" : "gradient") + " '" +
                        tensor.getName() + "', which the message of bucket " + llvm::Twine(number) +
                        " changes",
                    facts.steps[issue].op, "issued here");
    };
    return failure(failed(forTensors(plan::Space::parameters, judge)) ||
                   failed(forTensors(plan::Space::gradients, judge)));
  }

  const PlanFacts &facts;
  std::int64_t number;
  plan::BucketOp bucket;
  std::int64_t issue, wait, update;
  bool bringsPart = false;   ///< whether its rows are added to another bucket's gradient
  llvm::StringSet<> members; ///< names of its gradients
};

} // namespace

/// Rule P18: the forward phase has no messages.
static LogicalResult checkForward(const PlanFacts &facts) {
  for (const Step &step : facts.steps)
    if (step.phase == plan::Phase::forward &&
        isa<plan::IssueOp, plan::GatherOp, plan::AllGatherOp, plan::WaitOp, plan::UpdateOp>(
            step.op))
      return step.op->emitOpError("P18: stands in the forward phase, which evaluation runs alone");
  return success();
}

/// Rule P24: where NCCL carries the messages, the program uses only what NCCL has; elsewhere it
/// leaves no choice to NCCL.
static LogicalResult checkCarrier(const PlanFacts &facts) {
  plan::ProgramOp program = facts.program;
  auto spec =
      program->getParentOfType<ModuleOp>()->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  if (!spec)
    return success();
  const bool byNccl = spec.getNccl();
  if (byNccl && program.getServers())
    return program.emitOpError("P24: has servers of its own, which NCCL, who carries the messages, "
                               "does not know");
  for (auto [number, bucket] : facts.buckets) {
    const Scheme scheme = plan::BucketOp(bucket).getScheme();
    if (!isCarried(scheme, byNccl))
      return plan::BucketOp(bucket).emitOpError("P24: travels by '")
             << schemeName(scheme)
             << (byNccl ? "', which NCCL, who carries the messages, has not"
                        : "', which is NCCL's choice, but NCCL does not carry the messages");
  }
  return success();
}

LogicalResult checkSchemes(const PlanFacts &facts) {
  if (failed(checkForward(facts)) || failed(checkCarrier(facts)))
    return failure();
  for (auto [number, bucket] : facts.buckets)
    if (failed(SchemeRules(facts, number, bucket).check()))
      return failure();
  return success();
}

} // namespace syncline::check
