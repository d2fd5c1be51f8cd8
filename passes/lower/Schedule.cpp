// Builds the issue order.
#include "passes/lower/Schedule.h"

#include "passes/lower/Kernels.h"

#include "llvm/ADT/DenseMap.h"

#include <map>

using namespace mlir;

namespace syncline::lower {

namespace {

class Scheduler {
public:
  explicit Scheduler(std::vector<Bucket> &buckets) : buckets(buckets) {
    for (auto [number, bucket] : llvm::enumerate(buckets)) {
      missing.push_back(bucket.members.size());
      channels[bucket.message.getChannel()].push_back(number);
      for (auto [index, member] : llvm::enumerate(bucket.members))
        places[member.gradient].push_back({number, index});
    }
  }

  LogicalResult append(Operation &op) {
    if (isa<nn::InputOp, nn::TargetOp, nn::ParameterOp, nn::StateOp, nn::ConstantOp>(op)) {
      complete(op, plan::Phase::forward);
      return success();
    }
    if (isa<nn::OutputOp, nn::UpdateOp, sync::AllReduceOp>(op))
      return success();
    const plan::Phase phase =
        op.hasAttr(nn::backwardAttr) ? plan::Phase::backward : plan::Phase::forward;
    if (isa<nn::LossOp>(op)) {
      actions.push_back({ActionKind::loss, phase, &op});
      return success();
    }
    if (!isa<nn::PointwiseOp>(op) && !kernelOf(&op))
      return op.emitError("no kernel carries out '")
             << op.getName() << "'; elementwise operations must be fused before";
    actions.push_back({ActionKind::compute, phase, &op});
    complete(op, phase);
    return success();
  }

  std::vector<Action> finish() {
    for (size_t i = 0; i < buckets.size(); ++i) {
      const auto number = static_cast<std::int64_t>(i);
      actions.push_back({ActionKind::wait, plan::Phase::update, nullptr, number});
      actions.push_back({ActionKind::update, plan::Phase::update, nullptr, number});
    }
    return std::move(actions);
  }

private:
  /// Copies what must be copied of the operation's results, and issues what they complete.
  void complete(Operation &op, plan::Phase phase) {
    for (Value result : op.getResults()) {
      auto found = places.find(result);
      if (found == places.end())
        continue;
      for (auto [bucket, member] : found->second) {
        if (buckets[bucket].members[member].isCopied)
          actions.push_back({ActionKind::copy, phase, &op, static_cast<std::int64_t>(bucket),
                             static_cast<std::int64_t>(member)});
        --missing[bucket];
      }
    }
    for (auto &[channel, queue] : channels)
      while (!queue.empty() && missing[queue.front()] == 0) {
        actions.push_back(
            {ActionKind::issue, phase, nullptr, static_cast<std::int64_t>(queue.front())});
        queue.erase(queue.begin());
      }
  }

  std::vector<Bucket> &buckets;
  std::vector<std::size_t> missing; ///< by bucket: members not written yet
  std::map<std::uint64_t, std::vector<std::size_t>> channels; ///< buckets to issue, in order
  llvm::DenseMap<Value, llvm::SmallVector<std::pair<std::size_t, std::size_t>, 1>> places;
  std::vector<Action> actions;
};

} // namespace

FailureOr<std::vector<Action>> schedule(nn::StepOp step, std::vector<Bucket> &buckets) {
  Scheduler scheduler(buckets);
  for (Operation &op : step.getBody().front())
    if (failed(scheduler.append(op)))
      return failure();
  return scheduler.finish();
}

} // namespace syncline::lower
