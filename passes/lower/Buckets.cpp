// Collects messages and lays out the spaces of parameters and gradients.
#include "passes/lower/Buckets.h"

#include "ir/plan/Plan.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace syncline::lower {

/// The parameter that each agreed gradient updates.
using UpdatedBy = llvm::DenseMap<Value, nn::ParameterOp>;

static FailureOr<UpdatedBy> collectUpdates(nn::StepOp step) {
  UpdatedBy updated;
  llvm::DenseSet<Operation *> parameters;
  for (auto update : step.getOps<nn::UpdateOp>()) {
    if (!update.getGradient().getDefiningOp<sync::AllReduceOp>()) {
      update.emitError("expected a gradient that comes from 'sync.all_reduce'");
      return failure();
    }
    auto parameter = update.getParameter().getDefiningOp<nn::ParameterOp>();
    updated[update.getGradient()] = parameter;
    parameters.insert(parameter);
  }
  for (auto parameter : step.getOps<nn::ParameterOp>())
    if (!parameters.contains(parameter)) {
      parameter.emitError("parameter '") << parameter.getName() << "' is never updated";
      return failure();
    }
  return updated;
}

static FailureOr<Bucket> collectMembers(sync::AllReduceOp message, const UpdatedBy &updated) {
  Bucket bucket{message, {}};
  for (auto [local, agreed, name] :
       llvm::zip(message.getLocal(), message.getAgreed(), message.getMembers())) {
    nn::ParameterOp parameter = updated.lookup(agreed);
    if (!parameter || parameter.getNameAttr() != name) {
      message.emitError("member ") << name << " does not update the parameter of that name";
      return failure();
    }
    Member member{parameter, local};
    Operation *producer = local.getDefiningOp();
    member.isCopied =
        !local.hasOneUse() ||
        isa<nn::InputOp, nn::TargetOp, nn::ParameterOp, nn::StateOp, nn::ConstantOp>(producer);
    bucket.members.push_back(member);
  }
  return bucket;
}

static void layOut(std::vector<Bucket> &buckets) {
  std::int64_t offset = 0;
  for (Bucket &bucket : buckets) {
    bucket.offset = offset;
    for (Member &member : bucket.members) {
      auto type = cast<RankedTensorType>(member.parameter.getType());
      std::int64_t dense =
          plan::denseBytes(MemRefType::get(type.getShape(), type.getElementType()));
      member.offset = offset;
      member.reserve = static_cast<std::int64_t>(llvm::alignTo(dense, plan::alignment));
      bucket.bytes += dense;
      offset += member.reserve;
    }
    bucket.extent = offset - bucket.offset;
  }
}

FailureOr<std::vector<Bucket>> collectBuckets(nn::StepOp step) {
  FailureOr<UpdatedBy> updated = collectUpdates(step);
  if (failed(updated))
    return failure();
  std::vector<Bucket> buckets;
  for (auto message : step.getOps<sync::AllReduceOp>()) {
    FailureOr<Bucket> bucket = collectMembers(message, *updated);
    if (failed(bucket))
      return failure();
    buckets.push_back(std::move(*bucket));
  }
  llvm::stable_sort(
      buckets, [](Bucket a, Bucket b) { return a.message.getBucket() < b.message.getBucket(); });
  for (size_t i = 0; i < buckets.size(); ++i)
    if (buckets[i].message.getBucket() != i) {
      buckets[i].message.emitError("expected bucket ")
          << i << " here: buckets are numbered from 0, got " << buckets[i].message.getBucket();
      return failure();
    }
  layOut(buckets);
  return buckets;
}

} // namespace syncline::lower
