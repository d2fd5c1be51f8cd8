// What a plan says, gathered from its text alone: the ground on which every rule is judged.
#pragma once

#include "ir/plan/Plan.h"
#include "ir/sync/Sync.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <map>
#include <optional>
#include <vector>

namespace syncline::check {

/// An operation that executes, with the tensors it touches. Its number is its place in `steps`.
/// Both a gather and its wait read the factors and write what they are gathered into: the channel
/// may do so at any time from one to the other.
struct Step {
  mlir::Operation *op;
  llvm::SmallVector<plan::TensorOp, 6> reads, writes;
  std::optional<plan::Phase> phase; ///< of the `plan.phase` before it, where there is one
};

/// A tensor's elements as one step wrote them; -1: as they were when the first step began.
struct Version {
  plan::TensorOp tensor;
  std::int64_t writer = -1; ///< number of a step

  /// For maps; equal where tensor and step are.
  std::pair<mlir::Operation *, std::int64_t> key() const { return {tensor, writer}; }
};

/// What makes a tensor a copy of another, besides reshapes.
struct Copies {
  bool transposes = false;
  bool gathers = false; ///< of all ranks' to one rank's own
};

/// The places of one kind of bucket operation in issue order.
using Places = std::map<std::int64_t, llvm::SmallVector<std::int64_t, 1>>; ///< by bucket

struct PlanFacts {
  plan::ProgramOp program;
  std::vector<plan::TensorOp> tensors;
  std::map<std::int64_t, plan::BucketOp> buckets; ///< by number
  std::vector<Step> steps;
  Places issues; ///< of `plan.issue` and `plan.gather`
  Places waits, updates;
  /// Numbers of the steps that read or write a tensor, ascending.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<std::int64_t, 4>> readers, writers;

  /// What a step reads in a tensor: what the last step before it wrote there.
  Version readBy(std::int64_t step, plan::TensorOp tensor) const;

  /// What the version is a copy of, itself where it is none. Follows steps backwards alone, so that
  /// it ends where tensors are copied in a circle, as state may be.
  Version sourceOf(Version version, Copies through = {}) const;

  /// The factor that the version is all ranks' of; none where no gather wrote it.
  std::optional<Version> gatheredFrom(Version version) const;

  /// The call that wrote the version, where one did.
  plan::CallOp writerOf(Version version) const;

  /// The only place of a bucket operation, -1 when there is none. Precondition: P7 and P11 hold.
  static std::int64_t only(const Places &places, std::int64_t bucket) {
    auto found = places.find(bucket);
    return found == places.end() ? -1 : found->second.front();
  }
};

/// Gathers the facts. Fails on what makes a rule meaningless: an operation of another dialect or a
/// loop body that depends on anything outside (P13), an operand that is no declared tensor (P9), a
/// bucket number declared twice (P4) or used without a declaration (P7).
mlir::FailureOr<PlanFacts> gather(plan::ProgramOp program);

/// P5, P7, P8, P11, P12: gradients agree, once, complete and undisturbed.
mlir::LogicalResult checkBuckets(const PlanFacts &facts);

/// P14 to P18, P24: what holds where gradients do not simply become sums; where messages stand; by
/// what they may travel.
mlir::LogicalResult checkSchemes(const PlanFacts &facts);

/// P19, P20: the program carries out the module's solution, and the problem's times are those of
/// its operations. Success where the module has neither problem nor solution. Precondition:
/// checkBuckets().
mlir::LogicalResult checkPromises(const PlanFacts &facts, mlir::ModuleOp module);

/// P20, of this problem and its solution, which the program carries out (P19).
mlir::LogicalResult checkTimes(const PlanFacts &facts, sync::ProblemOp problem,
                               sync::SolutionOp solution);

/// P22: what the module says that its plan takes is what virtual time gives, of a trace too.
/// Success where the module has no problem, no solution or no cluster. Precondition: what stands
/// beside a program is what it does (P19).
mlir::LogicalResult checkPrediction(mlir::ModuleOp module);

/// P23: the problem's ways to travel alone, and piggybacks, are those that the program's products
/// and what was requested give. Success where the module has no problem or no cluster.
/// Precondition: checkBuckets().
mlir::LogicalResult checkFactors(const PlanFacts &facts, mlir::ModuleOp module);

/// P9, P10: nothing is read that was not written or was overwritten.
mlir::LogicalResult checkMemory(const PlanFacts &facts);

/// P28: what operations compute from fits together.
mlir::LogicalResult checkOperands(const PlanFacts &facts);

/// P25 to P27: samples and predictions are the batch's, spaces are as large as what lies in them,
/// and stored tensors have values of their own. Preconditions: checkBuckets(), checkOperands().
mlir::LogicalResult checkStorage(const PlanFacts &facts);

} // namespace syncline::check
