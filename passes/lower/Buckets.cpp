// Collects messages and lays out the spaces of parameters and gradients.
#include "passes/lower/Buckets.h"

#include "ir/plan/Plan.h"
#include "passes/cost/TiedGradients.h"
#include "syncline/RowsPart.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace syncline::lower {

ValueRange Bucket::factors() const {
  auto gather = dyn_cast<sync::AllGatherOp>(message);
  return gather ? ValueRange(gather.getLocal()) : ValueRange();
}

double Bucket::partOf(const Member &member) const {
  const std::int64_t begin = std::max(member.offset, offset),
                     end = std::min(member.offset + member.reserve, offset + extent);
  return static_cast<double>(end - begin) / static_cast<double>(member.reserve);
}

ValueRange Bucket::gathered() const {
  auto gather = dyn_cast<sync::AllGatherOp>(message);
  return gather ? ValueRange(gather.getGathered()) : ValueRange();
}

/// Whether no operation makes the value, so that it has a place of its own.
static bool isSource(Value value) {
  Operation *source = value.getDefiningOp();
  return !source || isa<nn::InputOp, nn::TargetOp, nn::ParameterOp, nn::StateOp, nn::ConstantOp,
                        sync::AllReduceOp, sync::AllGatherOp>(source);
}

llvm::SmallVector<Value, 1> heldBefore(Value gradient) {
  llvm::SmallVector<Value, 1> held;
  for (auto rows = gradient.getDefiningOp<nn::EmbeddingBackwardOp>(); rows;
       rows = held.back().getDefiningOp<nn::EmbeddingBackwardOp>()) {
    const Value onto = rows.getOnto();
    if (!onto || !onto.hasOneUse() || isSource(onto))
      break;
    held.push_back(onto);
  }
  return held;
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
  template <typename Op> Bucket &add(Op message, cluster::Scheme scheme) {
    return messages.buckets.emplace_back(
        Bucket{.message = message,
               .scheme = scheme,
               .number = static_cast<std::int64_t>(message.getBucket()),
               .channel = static_cast<std::int64_t>(message.getChannel()),
               .completedBy = static_cast<std::int64_t>(message.getBucket())});
  }

  void addSum(sync::AllReduceOp message) {
    Bucket &bucket = add(message, message.getScheme());
    if (const auto cut = message.getCut(); cut && cut->size() == 2) {
      bucket.cutBefore = (*cut)[0];
      bucket.cutBehind = (*cut)[1];
    }
    if (const auto place = message.getGatherPlace())
      bucket.gatherPlace = static_cast<std::int64_t>(*place);
  }

  /// An embedding's rows travel behind their numbers, factors behind floats.
  static cluster::Scheme schemeOf(sync::AllGatherOp gather) {
    auto first = cast<RankedTensorType>(gather.getLocal().front().getType());
    return first.getElementType().isInteger(64) ? cluster::Scheme::sparse
                                                : cluster::Scheme::factors;
  }

  LogicalResult collectBuckets() {
    for (Operation &op : step.getBody().front()) {
      if (auto message = dyn_cast<sync::AllReduceOp>(op))
        addSum(message);
      else if (auto gather = dyn_cast<sync::AllGatherOp>(op))
        add(gather, schemeOf(gather));
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
  /// since it runs once that message has arrived, but for the sum of a gradient's parts.
  LogicalResult collectRebuilders() {
    for (Operation &op : step.getBody().front()) {
      if (isa<nn::UpdateOp>(op))
        continue;
      if (isSumOfParts(&op)) {
        messages.rebuilders[&op] =
            std::max(messageOf(op.getOperand(0)), messageOf(op.getOperand(1)));
        continue;
      }
      for (Value operand : op.getOperands()) {
        Operation *source = operand.getDefiningOp();
        const std::int64_t number =
            isa_and_nonnull<sync::AllGatherOp>(source) ? numbers.lookup(source) : rebuiltBy(source);
        if (number < 0)
          continue;
        if (isa<sync::AllReduceOp, sync::AllGatherOp>(op))
          return op.emitError("expected values of this rank, got one of all ranks");
        if (messages.rebuilders.try_emplace(&op, number).first->second != number)
          return op.emitError("depends on what two messages gather");
      }
    }
    return success();
  }

  /// The number of the message from whose factors an operation computes; -1 where there is none.
  std::int64_t rebuiltBy(Operation *op) const {
    auto found = messages.rebuilders.find(op);
    return found == messages.rebuilders.end() ? -1 : found->second;
  }

  /// The number of the message that the summed gradient comes from; -1 where it comes from none.
  std::int64_t messageOf(Value agreed) const {
    Operation *source = agreed.getDefiningOp();
    return isa_and_nonnull<sync::AllReduceOp>(source) ? numbers.lookup(source) : rebuiltBy(source);
  }

  /// Whether the message brings rows alone, which are added to a gradient of another message.
  bool bringsRows(std::int64_t number) const {
    if (number < 0)
      return false;
    auto names = messages.buckets[number].message->getAttrOfType<ArrayAttr>("members");
    return names.size() == 1 && syncline::isRowsPart(cast<StringAttr>(names[0]).getValue());
  }

  /// Whether the operation adds rows of one message to a gradient of another one. Its operands come
  /// before it, so their messages are known.
  bool isSumOfParts(Operation *op) const {
    if (!isa<nn::PointwiseOp>(op) || op->getNumOperands() != 2)
      return false;
    const std::int64_t first = messageOf(op->getOperand(0)), second = messageOf(op->getOperand(1));
    return first >= 0 && second >= 0 && bringsRows(first) != bringsRows(second);
  }

  LogicalResult collectUpdates() {
    llvm::DenseSet<Operation *> parameters;
    for (auto update : step.getOps<nn::UpdateOp>()) {
      const Value total = update.getGradient();
      Value gradient = total;
      auto parameter = update.getParameter().getDefiningOp<nn::ParameterOp>();
      if (Operation *sum = total.getDefiningOp(); sum && isSumOfParts(sum)) {
        const bool isFirst = bringsRows(messageOf(sum->getOperand(0)));
        const Value rows = sum->getOperand(isFirst ? 0 : 1);
        const std::string name = cost::rowsNameOf(parameter.getName());
        updates[{messageOf(rows), StringAttr::get(step.getContext(), name)}] = {update, rows};
        gradient = sum->getOperand(isFirst ? 1 : 0);
      }
      const std::int64_t number = messageOf(gradient);
      if (number < 0)
        return update.emitError("expected a gradient that comes from 'sync.all_reduce', or is "
                                "computed from 'sync.all_gather'");
      updates[{number, parameter.getNameAttr()}] = {update, gradient};
      // Other messages may have summed other parts of the gradient before.
      for (Value sum = partBefore(gradient); sum; sum = partBefore(sum))
        updates[{numbers.lookup(sum.getDefiningOp()), parameter.getNameAttr()}] = {update, sum};
      parameters.insert(parameter);
    }
    for (auto parameter : step.getOps<nn::ParameterOp>())
      if (!parameters.contains(parameter))
        return parameter.emitError("parameter '") << parameter.getName() << "' is never updated";
    return success();
  }

  /// The gradient that a message's result is a sum of: the operand of the same number.
  static Value summand(Value sum) {
    auto message = sum.getDefiningOp<sync::AllReduceOp>();
    return message ? message.getLocal()[cast<OpResult>(sum).getResultNumber()] : Value();
  }

  /// The operand that a message adds another part to, if a message made it; null otherwise.
  static Value partBefore(Value sum) {
    Value before = summand(sum);
    return before && isa_and_nonnull<sync::AllReduceOp>(before.getDefiningOp()) ? before : Value();
  }

  /// This rank's own gradient, from which the sum was made.
  static Value localOf(Value sum) {
    while (Value before = summand(sum))
      sum = before;
    return sum;
  }

  /// Finds the updates of each message's members by name. Every update must belong to one message,
  /// or to all messages that carry a part of its gradient.
  LogicalResult collectMembers() {
    for (Bucket &bucket : messages.buckets) {
      auto names = bucket.message->getAttrOfType<ArrayAttr>("members");
      for (auto [index, name] : llvm::enumerate(names.getAsRange<StringAttr>())) {
        auto [update, sum] = updates.lookup({bucket.number, name});
        Value local;
        if (update && bucket.isGathered())
          local = sum;
        else if (update && sum == bucket.message->getResult(index))
          local = localOf(sum);
        if (!local)
          return bucket.message->emitError("member ")
                 << name << " does not update the parameter of that name";
        updates.erase({bucket.number, name});
        if (bringsRows(bucket.number))
          continue;
        const Value total = update.getGradient();
        const std::int64_t last = rebuiltBy(total.getDefiningOp());
        const bool isAddedTo = total != sum && isSumOfParts(total.getDefiningOp());
        bucket.completedBy = std::max(bucket.completedBy, isAddedTo ? last : -1);
        bucket.members.push_back(
            {.parameter = update.getParameter().getDefiningOp<nn::ParameterOp>(),
             .gradient = local,
             .arrived = isAddedTo ? sum : Value(),
             .total = isAddedTo ? total : Value(),
             .isCopied = isCopied(local)});
      }
    }
    for (auto update : step.getOps<nn::UpdateOp>())
      for (auto [unnamed, sum] : llvm::make_second_range(updates))
        if (unnamed == update)
          return update.emitError("its gradient comes from a message that does not name it");
    return success();
  }

  static bool isCopied(Value gradient) { return !gradient.hasOneUse() || isSource(gradient); }

  /// Places the buckets in the order of their numbers, but those that share a gradient side by
  /// side: behind a bucket that cuts its last gradient follows the one that carries the rest.
  void layOut() {
    // The keys are gradients, and how many of their bytes lie before the bucket.
    llvm::DenseMap<std::pair<Operation *, std::int64_t>, Bucket *> rests;
    for (Bucket &bucket : messages.buckets)
      if (bucket.cutBefore > 0)
        rests[{bucket.members.front().parameter, bucket.cutBefore}] = &bucket;
    std::int64_t end = 0;
    for (Bucket &head : messages.buckets)
      if (head.isRowsPart())
        placeRows(head, end);
      else if (head.cutBefore == 0)
        for (Bucket *next = &head; next && next->extent == 0;) {
          place(*next, end);
          end += next->extent;
          Member &last = next->members.back();
          next = next->cutBehind == 0
                     ? nullptr
                     : rests.lookup({last.parameter, denseBytes(last) - next->cutBehind});
        }
  }

  static std::int64_t denseBytes(Member &member) {
    auto type = cast<RankedTensorType>(member.parameter.getType());
    return plan::denseBytes(MemRefType::get(type.getShape(), type.getElementType()));
  }

  /// Rows have no place among the gradients. The bucket counts the bytes that a rank contributes.
  static void placeRows(Bucket &bucket, std::int64_t offset) {
    bucket.offset = offset;
    for (Value factor : bucket.factors()) {
      auto type = cast<RankedTensorType>(factor.getType());
      bucket.bytes += plan::denseBytes(MemRefType::get(type.getShape(), type.getElementType()));
    }
  }

  static void place(Bucket &bucket, std::int64_t offset) {
    bucket.offset = offset;
    bucket.bytes = -bucket.cutBefore - bucket.cutBehind;
    std::int64_t end = offset - bucket.cutBefore;
    for (Member &member : bucket.members) {
      const std::int64_t dense = denseBytes(member);
      member.offset = end;
      member.reserve = static_cast<std::int64_t>(llvm::alignTo(dense, plan::alignment));
      bucket.bytes += dense;
      end += member.reserve;
    }
    if (bucket.cutBehind > 0)
      end = bucket.members.back().offset + denseBytes(bucket.members.back()) - bucket.cutBehind;
    bucket.extent = end - offset;
  }

  /// An update, and the result of a message that sums its gradient or a part of it.
  struct PartialSum {
    nn::UpdateOp update = {};
    Value sum = {};
  };

  nn::StepOp step;
  Messages messages;
  llvm::DenseMap<Operation *, std::int64_t> numbers; ///< number of each message
  /// Updates that no message's list of members has named yet, by bucket and parameter.
  llvm::DenseMap<std::pair<std::int64_t, Attribute>, PartialSum> updates;
};

} // namespace

FailureOr<Messages> collectMessages(nn::StepOp step) { return Collector(step).collect(); }

} // namespace syncline::lower
