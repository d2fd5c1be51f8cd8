// Collects messages and lays out the spaces of parameters and gradients.
#include "passes/lower/Buckets.h"

#include "ir/plan/Plan.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace syncline::lower {

ValueRange Bucket::factors() const {
  auto gather = dyn_cast<sync::AllGatherOp>(message);
  return gather ? ValueRange(gather.getLocal()) : ValueRange();
}

ValueRange Bucket::gathered() const {
  auto gather = dyn_cast<sync::AllGatherOp>(message);
  return gather ? ValueRange(gather.getGathered()) : ValueRange();
}

namespace {

class Collector {
public:
  explicit Collector(nn::StepOp step) : step(step) {}

  FailureOr<Messages> collect() {
    if (failed(collectBuckets()) || failed(collectRebuilders()) || failed(collectUpdates()) ||
        failed(collectMembers()))
      return failure();
    layOut();
    return std::move(messages);
  }

private:
  template <typename Op> void add(Op message, cluster::Scheme scheme) {
    messages.buckets.push_back({.message = message,
                                .scheme = scheme,
                                .number = static_cast<std::int64_t>(message.getBucket()),
                                .channel = static_cast<std::int64_t>(message.getChannel()),
                                .ready = message.getReadyAttr(),
                                .start = message.getStartAttr(),
                                .end = message.getEndAttr()});
  }

  LogicalResult collectBuckets() {
    for (Operation &op : step.getBody().front()) {
      if (auto message = dyn_cast<sync::AllReduceOp>(op))
        add(message, message.getScheme());
      else if (auto gather = dyn_cast<sync::AllGatherOp>(op))
        add(gather, cluster::Scheme::factors);
    }
    llvm::stable_sort(messages.buckets,
                      [](const Bucket &a, const Bucket &b) { return a.number < b.number; });
    for (auto [expected, bucket] : llvm::enumerate(messages.buckets)) {
      if (bucket.number != static_cast<std::int64_t>(expected))
        return bucket.message->emitError("expected bucket ")
               << expected << " here: buckets are numbered from 0, got " << bucket.number;
      if (bucket.isGathered() != isa<sync::AllGatherOp>(bucket.message))
        return bucket.message->emitError("gradients that travel by factors are not reduced: "
                                         "expected 'sync.all_gather' of their factors");
      numbers[bucket.message] = bucket.number;
    }
    return success();
  }

  /// Finds the operations that depend on gathered factors. Each may depend on one message only,
  /// since it runs once that message has arrived.
  LogicalResult collectRebuilders() {
    for (Operation &op : step.getBody().front())
      for (Value operand : op.getOperands()) {
        Operation *source = operand.getDefiningOp();
        if (isa<nn::UpdateOp>(op) || !source)
          continue;
        std::int64_t number = isa<sync::AllGatherOp>(source) ? numbers.lookup(source) : -1;
        if (auto found = messages.rebuilders.find(source); found != messages.rebuilders.end())
          number = found->second;
        if (number < 0)
          continue;
        if (isa<sync::AllReduceOp, sync::AllGatherOp>(op))
          return op.emitError("expected values of this rank, got one of all ranks");
        if (messages.rebuilders.try_emplace(&op, number).first->second != number)
          return op.emitError("depends on what two messages gather");
      }
    return success();
  }

  /// The number of the message that the summed gradient comes from; -1 where it comes from none.
  std::int64_t messageOf(Value agreed) const {
    Operation *source = agreed.getDefiningOp();
    if (isa_and_nonnull<sync::AllReduceOp>(source))
      return numbers.lookup(source);
    auto found = messages.rebuilders.find(source);
    return found == messages.rebuilders.end() ? -1 : found->second;
  }

  LogicalResult collectUpdates() {
    llvm::DenseSet<Operation *> parameters;
    for (auto update : step.getOps<nn::UpdateOp>()) {
      const std::int64_t number = messageOf(update.getGradient());
      if (number < 0)
        return update.emitError("expected a gradient that comes from 'sync.all_reduce', or is "
                                "computed from 'sync.all_gather'");
      auto parameter = update.getParameter().getDefiningOp<nn::ParameterOp>();
      updates[{number, parameter.getNameAttr()}] = update;
      parameters.insert(parameter);
    }
    for (auto parameter : step.getOps<nn::ParameterOp>())
      if (!parameters.contains(parameter))
        return parameter.emitError("parameter '") << parameter.getName() << "' is never updated";
    return success();
  }

  /// Finds the updates of each message's members by name. Every update must belong to one message.
  LogicalResult collectMembers() {
    for (Bucket &bucket : messages.buckets) {
      auto names = bucket.message->getAttrOfType<ArrayAttr>("members");
      for (auto [index, name] : llvm::enumerate(names.getAsRange<StringAttr>())) {
        nn::UpdateOp update = updates.lookup({bucket.number, name});
        Value local;
        if (update && bucket.isGathered())
          local = update.getGradient();
        else if (update && update.getGradient() == bucket.message->getResult(index))
          local = bucket.message->getOperand(index);
        if (!local)
          return bucket.message->emitError("member ")
                 << name << " does not update the parameter of that name";
        updates.erase({bucket.number, name});
        bucket.members.push_back(
            {.parameter = update.getParameter().getDefiningOp<nn::ParameterOp>(),
             .gradient = local,
             .isCopied = isCopied(local)});
      }
    }
    for (auto update : step.getOps<nn::UpdateOp>())
      if (llvm::is_contained(llvm::make_second_range(updates), update))
        return update.emitError("its gradient comes from a message that does not name it");
    return success();
  }

  static bool isCopied(Value gradient) {
    return !gradient.hasOneUse() ||
           isa<nn::InputOp, nn::TargetOp, nn::ParameterOp, nn::StateOp, nn::ConstantOp>(
               gradient.getDefiningOp());
  }

  void layOut() {
    std::int64_t offset = 0;
    for (Bucket &bucket : messages.buckets) {
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

  nn::StepOp step;
  Messages messages;
  llvm::DenseMap<Operation *, std::int64_t> numbers; ///< number of each message
  /// Updates that no message's list of members has named yet, by bucket and parameter.
  llvm::DenseMap<std::pair<std::int64_t, Attribute>, nn::UpdateOp> updates;
};

} // namespace

FailureOr<Messages> collectMessages(nn::StepOp step) { return Collector(step).collect(); }

} // namespace syncline::lower
