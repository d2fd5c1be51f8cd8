// Builds the order of a step's operations.
#include "passes/lower/Schedule.h"

#include "passes/lower/Kernels.h"

#include "llvm/ADT/SmallPtrSet.h"

#include <deque>
#include <map>

using namespace mlir;

namespace syncline::lower {

namespace {

class Scheduler {
public:
  Scheduler(nn::StepOp step, const Messages &messages, Overlap overlap)
      : messages(messages), buckets(messages.buckets), rebuilds(buckets.size()),
        completes(buckets.size()), isCarried(buckets.size()) {
    collectRebuilders(step);
    if (overlap == Overlap::step)
      findFirstReaders(step);
    for (const Bucket &bucket : buckets) {
      missing.push_back(bucket.isGathered() ? bucket.factors().size() : bucket.members.size());
      for (auto [index, member] : llvm::enumerate(bucket.members)) {
        places[member.gradient].push_back({bucket.number, static_cast<std::int64_t>(index)});
        if (bucket.updatesItself())
          awaitReaders(member.parameter, bucket.number);
      }
      for (Value factor : bucket.factors())
        factors[factor].push_back(bucket.number);
      if (!bucket.updatesItself() && !bucket.isRowsPart())
        completes[bucket.completedBy].push_back(bucket.number);
    }
    fillChannels();
  }

  LogicalResult append(Operation &op) {
    if (isa<nn::InputOp, nn::TargetOp, nn::ParameterOp, nn::StateOp, nn::ConstantOp>(op)) {
      complete(op, plan::Phase::forward);
      return success();
    }
    if (isa<nn::OutputOp, nn::UpdateOp, sync::AllReduceOp, sync::AllGatherOp>(op))
      return success();
    const plan::Phase phase =
        op.hasAttr(nn::backwardAttr) ? plan::Phase::backward : plan::Phase::forward;
    if (isa<nn::LossOp>(op)) {
      actions.push_back({ActionKind::loss, phase, &op});
      return success();
    }
    if (phase == plan::Phase::backward)
      handOver(); // issues what the forward pass completed
    if (!isa<nn::PointwiseOp>(op) && !kernelOf(&op))
      return op.emitError("no kernel carries out '")
             << op.getName() << "'; elementwise operations must be fused before";
    if (messages.rebuilders.contains(&op))
      return success(); // follows the wait for what it is computed from
    for (std::int64_t bucket : carried.lookup(&op))
      receive(bucket);
    actions.push_back({ActionKind::compute, phase, &op});
    complete(op, phase);
    return success();
  }

  FailureOr<std::vector<Action>> finish() {
    handOver();
    for (const Bucket &bucket : buckets) {
      if (llvm::is_contained(channels[bucket.channel], HandOver{bucket.number}))
        return bucket.message->emitError("never leaves: what it waits for is computed from what "
                                         "another message gathers");
      if (!isCarried[bucket.number])
        receive(bucket.number);
    }
    return std::move(actions);
  }

private:
  void collectRebuilders(nn::StepOp step) {
    for (Operation &op : step.getBody().front())
      if (auto found = messages.rebuilders.find(&op); found != messages.rebuilders.end())
        rebuilds[found->second].push_back(&op);
  }

  /// Finds the buckets that can be carried into the next step: those whose parameters are read in
  /// the forward phase. The first such reader will wait for them.
  void findFirstReaders(nn::StepOp step) {
    llvm::DenseMap<Value, Numbers> bucketsOf;
    for (const Bucket &bucket : buckets)
      for (const Member &member : bucket.members) {
        nn::ParameterOp parameter = member.parameter;
        bucketsOf[parameter.getResult()].push_back(bucket.number);
      }
    for (Operation &op : step.getBody().front()) {
      if (op.hasAttr(nn::backwardAttr) || isa<nn::UpdateOp>(op))
        continue;
      Numbers &first = carried[&op];
      for (Value operand : op.getOperands())
        for (std::int64_t bucket : bucketsOf.lookup(operand))
          if (!isCarried[bucket]) {
            isCarried[bucket] = true;
            first.push_back(bucket);
          }
      llvm::sort(first);
    }
  }

  /// Schedules the wait for a bucket and what makes its parameters new.
  void receive(std::int64_t bucket) {
    actions.push_back({ActionKind::wait, plan::Phase::update, nullptr, bucket});
    for (Operation *op : rebuilds[bucket]) {
      actions.push_back({ActionKind::compute, plan::Phase::update, op});
      for (Value result : op->getResults())
        copyMembers(result, plan::Phase::update);
    }
    for (std::int64_t complete : completes[bucket])
      actions.push_back({ActionKind::update, plan::Phase::update, nullptr, complete});
  }

  /// Makes the bucket's message wait for all readers of a parameter that it updates.
  void awaitReaders(nn::ParameterOp parameter, std::int64_t bucket) {
    for (Operation *user : parameter.getResult().getUsers())
      if (!isa<nn::UpdateOp>(user)) {
        ++missing[bucket];
        readers[user].push_back(bucket);
      }
  }

  /// Schedules copies of the operation's results where needed, and issues the buckets that
  /// are complete.
  void complete(Operation &op, plan::Phase phase) {
    for (Value result : op.getResults()) {
      for (std::int64_t bucket : copyMembers(result, phase))
        --missing[bucket];
      for (std::int64_t bucket : factors.lookup(result))
        --missing[bucket];
    }
    for (std::int64_t bucket : readers.lookup(&op))
      --missing[bucket];
    if (phase != plan::Phase::forward)
      handOver();
  }

  /// Issues complete buckets. This begins in the backward pass, since evaluation runs
  /// forward alone.
  void handOver() {
    for (auto &[channel, queue] : channels)
      while (!queue.empty() && missing[queue.front().bucket] == 0) {
        const auto [bucket, isSecond] = queue.front();
        const ActionKind first =
            buckets[bucket].isGathered() ? ActionKind::gather : ActionKind::issue;
        actions.push_back(
            {isSecond ? ActionKind::allGather : first, plan::Phase::backward, nullptr, bucket});
        queue.pop_front();
      }
  }

  /// Queues what each channel is handed: all messages in order, the second halves at their places.
  void fillChannels() {
    std::map<std::int64_t, HandOver> seconds; // by place
    std::vector<HandOver> order;
    for (const Bucket &bucket : buckets) {
      order.push_back({bucket.number});
      if (bucket.gatherPlace)
        seconds[*bucket.gatherPlace] = {bucket.number, true};
    }
    for (const auto &[place, second] : seconds)
      order.insert(order.begin() + std::min(place, static_cast<std::int64_t>(order.size())),
                   second);
    for (const HandOver &message : order)
      channels[buckets[message.bucket].channel].push_back(message);
  }

  /// Schedules copies of the value where needed; returns the buckets that have it as a member.
  llvm::SmallVector<std::int64_t, 1> copyMembers(Value value, plan::Phase phase) {
    llvm::SmallVector<std::int64_t, 1> completed;
    llvm::SmallPtrSet<Operation *, 1> copied; // a gradient that is cut has several buckets
    for (auto [bucket, index] : places.lookup(value)) {
      const Member &member = buckets[bucket].members[index];
      if (member.isCopied && copied.insert(nn::ParameterOp(member.parameter)).second)
        actions.push_back({ActionKind::copy, phase, value.getDefiningOp(), bucket, index});
      completed.push_back(bucket);
    }
    return completed;
  }

  using Numbers = llvm::SmallVector<std::int64_t, 1>;

  /// What a channel is handed: a bucket, or the second half of one.
  struct HandOver {
    std::int64_t bucket;
    bool isSecond = false;

    bool operator==(const HandOver &) const = default;
  };

  const Messages &messages;
  const std::vector<Bucket> &buckets;
  std::vector<std::vector<Operation *>> rebuilds;        ///< by bucket, in program order
  std::vector<Numbers> completes;                        ///< by message: the buckets to update
                                                         ///< behind it
  std::vector<std::size_t> missing;                      ///< by bucket: how many values or
                                                         ///< readers it still waits for
  std::map<std::int64_t, std::deque<HandOver>> channels; ///< by channel, in order
  llvm::DenseMap<Value, llvm::SmallVector<std::pair<std::int64_t, std::int64_t>, 1>> places;
  llvm::DenseMap<Value, Numbers> factors;       ///< buckets that gather a value
  llvm::DenseMap<Operation *, Numbers> readers; ///< buckets that wait for a reader
  std::vector<bool> isCarried;                  ///< by bucket: waited for in the next step
  llvm::DenseMap<Operation *, Numbers> carried; ///< carried buckets that an operation waits for
  std::vector<Action> actions;
};

} // namespace

FailureOr<std::vector<Action>> schedule(nn::StepOp step, const Messages &messages,
                                        Overlap overlap) {
  Scheduler scheduler(step, messages, overlap);
  for (Operation &op : step.getBody().front())
    if (failed(scheduler.append(op)))
      return failure();
  return scheduler.finish();
}

} // namespace syncline::lower
