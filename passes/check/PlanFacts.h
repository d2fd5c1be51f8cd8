// PlanFacts: what a plan's text says. Every rule judges by these facts alone.
#pragma once

#include "ir/plan/Plan.h"
#include "ir/sync/Sync.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <map>
#include <optional>
#include <vector>

namespace syncline::check {

/// An operation that executes, with the tensors that it reads and writes. Its number is its index
/// in `steps`. Both a gather and its wait read the factors and write the gathered tensors, since
/// the channel may do so at any time between the two. The wait for a carried bucket does not read
/// the factors, which the gather of the step before has copied.
struct Step {
  mlir::Operation *op;
  llvm::SmallVector<plan::TensorOp, 6> reads, writes;
  std::optional<plan::Phase> phase; ///< phase that the `plan.phase` before it begins, if any
};

/// A tensor's elements as one step wrote them; writer -1 means as they were before the first step.
struct Version {
  plan::TensorOp tensor;
  std::int64_t writer = -1; ///< number of a step

  /// A key for maps: equal where tensor and writer are equal.
  std::pair<mlir::Operation *, std::int64_t> key() const { return {tensor, writer}; }
};

/// Which operations, besides reshapes, count as making a copy of a tensor.
struct Copies {
  bool transposes = false;
  bool gathers = false; ///< gathering all ranks' factors counts as a copy of one rank's own
};

/// Rows that travel apart from the gradient to which they are added (P35).
struct RowsPart {
  std::int64_t bucket = -1; ///< that brings the rows
  plan::TensorOp gradient;  ///< null where no gradient has the name
  std::int64_t sum = -1;    ///< the step that adds them: a loop that reads and writes the gradient
  plan::TensorOp rows;      ///< what that step adds to it; null where there is no such step
};

/// The numbers of the steps of one kind of bucket operation, ascending, for each bucket.
using Places = std::map<std::int64_t, llvm::SmallVector<std::int64_t, 1>>;

struct PlanFacts {
  plan::ProgramOp program;
  std::vector<plan::TensorOp> tensors;
  std::map<std::int64_t, plan::BucketOp> buckets; ///< by bucket number
  std::vector<Step> steps;
  Places issues;     ///< steps that are `plan.issue` or `plan.gather`
  Places allGathers; ///< steps that are `plan.all_gather`
  Places waits, updates;
  /// The steps that read or write a tensor, ascending.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<std::int64_t, 4>> readers, writers;
  std::map<std::string, RowsPart> rowsParts; ///< by parameter
  /// The version that each step which is a reshape gives another shape: no reshape's result itself.
  llvm::DenseMap<std::int64_t, Version> reshaped;

  /// The rows that are added to the gradient of this name; null where it travels whole.
  const RowsPart *rowsOf(llvm::StringRef parameter) const {
    auto found = rowsParts.find(parameter.str());
    return found == rowsParts.end() ? nullptr : &found->second;
  }

  /// The version of `tensor` that a step reads: what the last writer before the step left.
  Version readBy(std::int64_t step, plan::TensorOp tensor) const;

  /// The version that `version` is a copy of, or itself. It ends even where tensors are copied in a
  /// circle, as state may be.
  Version sourceOf(Version version, Copies through = {}) const;

  /// One rank's factor, where the version holds this factor of all ranks; none where no gather
  /// wrote it.
  std::optional<Version> gatheredFrom(Version version) const;

  /// The call that wrote the version; null where no call did.
  plan::CallOp writerOf(Version version) const;

  /// Whether the bucket is waited for before it is issued: its wait is for the message of the step
  /// before (P29). Precondition: P7 and P11 hold.
  bool isCarried(std::int64_t bucket) const { return only(waits, bucket) < only(issues, bucket); }

  /// Whether the step lies between the issue of a bucket and its wait, which may be in the next
  /// step. Precondition: P7 and P11 hold.
  bool isInFlight(std::int64_t bucket, std::int64_t step) const {
    const std::int64_t issue = only(issues, bucket), wait = only(waits, bucket);
    return wait < issue ? step > issue || step < wait : step > issue && step < wait;
  }

  /// The only step of this kind for a bucket, -1 when there is none. Precondition: P7 and P11 hold.
  static std::int64_t only(const Places &places, std::int64_t bucket) {
    auto found = places.find(bucket);
    return found == places.end() ? -1 : found->second.front();
  }
};

inline std::int64_t end(plan::TensorOp tensor) { return tensor.getOffset() + tensor.getReserve(); }
inline std::int64_t end(plan::BucketOp bucket) { return bucket.getOffset() + bucket.getExtent(); }

/// The bytes that a bucket's interval has in common with the place of a tensor of its space, 0
/// where the tensor is null. Without the bytes that only align: densePartOf().
std::int64_t partOf(plan::BucketOp bucket, plan::TensorOp tensor);
std::int64_t densePartOf(plan::BucketOp bucket, plan::TensorOp tensor);

/// Reports an error at an operation, with a note at another one where there is one.
/// Always fails.
mlir::LogicalResult reject(mlir::Operation *at, const llvm::Twine &message, mlir::Operation *other,
                           const llvm::Twine &note);

/// Gathers the facts of a program. Fails where other rules would be meaningless: an operation of
/// another dialect or a loop body that depends on values outside (P13), an operand that is no
/// declared tensor (P9), a bucket number that is declared twice (P4) or used without a
/// declaration (P7).
mlir::FailureOr<PlanFacts> gather(plan::ProgramOp program);

/// Rules P5, P7, P8, P11, P12: every gradient is summed once, complete and undisturbed.
mlir::LogicalResult checkBuckets(const PlanFacts &facts);

/// Rule P7: a channel's buckets are issued in the order of their numbers. The rejection names the
/// buckets that would wait for each other. Precondition: each bucket has one issue and one wait.
mlir::LogicalResult checkChannels(const PlanFacts &facts);

/// Rule P30: messages in halves. Precondition: P7 and P11 hold.
mlir::LogicalResult checkHalves(const PlanFacts &facts);

/// Rule P29: messages that are waited for in the next step. Precondition: P7, P8 and P11 hold.
mlir::LogicalResult checkCarried(const PlanFacts &facts);

/// Rule P35: rows that are added to another bucket's gradient. Precondition: P7, P8 and P11 hold.
mlir::LogicalResult checkRowsParts(const PlanFacts &facts);

/// Rule P31: weights that travel in place of gradients. Precondition: checkBuckets() succeeded.
mlir::LogicalResult checkExchanges(const PlanFacts &facts, mlir::ModuleOp module);

/// Rule P32: updates that follow the last message.
mlir::LogicalResult checkClipping(const PlanFacts &facts);

/// Rule P36: steps of several micro-batches.
mlir::LogicalResult checkMicroBatches(const PlanFacts &facts);

/// Rules P14 to P18, P24: factors and sharded updates, where messages stand, and which schemes
/// their transport has.
mlir::LogicalResult checkSchemes(const PlanFacts &facts);

/// Rules P19 and P20: the program carries out the module's solution, and the problem's times are
/// those of the program's operations. Succeeds where the module has neither problem nor solution.
/// Precondition: checkBuckets() succeeded.
mlir::LogicalResult checkAgainstSolution(const PlanFacts &facts, mlir::ModuleOp module);

inline sync::MessageAttr messageOf(sync::SolutionOp solution, std::int64_t bucket) {
  return mlir::cast<sync::MessageAttr>(solution.getMessages()[bucket]);
}
inline llvm::StringRef layerName(sync::ProblemOp problem, std::int64_t layer) {
  return mlir::cast<mlir::StringAttr>(problem.getLayers()[layer]).getValue();
}

/// Rule P20 for this problem and its solution. Precondition: the program carries them out (P19).
mlir::LogicalResult checkTimes(const PlanFacts &facts, sync::ProblemOp problem,
                               sync::SolutionOp solution);

/// Rule P22: the prediction of a program or a trace is what a simulation in virtual time gives.
/// Succeeds where the module has no problem, no solution or no cluster. Precondition: a program
/// carries out the solution beside it (P19).
mlir::LogicalResult checkPrediction(mlir::ModuleOp module);

/// Rule P22k: drawn steps take by the plan what its prediction says of them, if it does. What it
/// says of other plans is not judged. Precondition: checkPrediction() succeeded.
mlir::LogicalResult checkDisturbed(mlir::ModuleOp module);

/// Rule P22l: so does the range of the step. Precondition: as above.
mlir::LogicalResult checkRange(mlir::ModuleOp module);

/// Rule P23: the problem's factor options and piggybacks are those that the program's products and
/// the requests give. Succeeds where the module has no problem or no cluster. Precondition:
/// checkBuckets() succeeded.
mlir::LogicalResult checkFactors(const PlanFacts &facts, mlir::ModuleOp module);

/// Rules P9, P10 and P33: no tensor is read before it is written or after it is overwritten.
mlir::LogicalResult checkMemory(const PlanFacts &facts);

/// Rule P28: the operands of each operation fit together.
mlir::LogicalResult checkOperands(const PlanFacts &facts);

/// Rules P25 to P27: samples and predictions are the batch's, each space is as large as its
/// contents, and stored tensors have values. Preconditions: checkBuckets() and
/// checkOperands() succeeded.
mlir::LogicalResult checkStorage(const PlanFacts &facts);

} // namespace syncline::check
