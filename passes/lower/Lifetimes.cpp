// Computes lifetimes, shares places in flat loops, and places the buffers.
#include "passes/lower/Lifetimes.h"

#include "ir/Refusal.h"
#include "ir/nn/NN.h"
#include "ir/plan/Plan.h"
#include "passes/lower/Kernels.h"
#include "passes/lower/Placement.h"
#include "passes/lower/Rounding.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace syncline::lower {

std::int64_t arenaReserve(RankedTensorType type, bool isRounded) {
  constexpr std::int64_t channelBlock = 16; // one AVX-512 vector of f32
  std::int64_t elements = 1;
  for (auto [dimension, extent] : llvm::enumerate(type.getShape()))
    elements *= type.getRank() >= 3 && dimension == 1 && extent > 1
                    ? static_cast<std::int64_t>(llvm::alignTo(extent, channelBlock))
                    : extent;
  const auto elementBytes =
      isRounded ? plan::roundedBytes
                : static_cast<std::int64_t>(llvm::divideCeil(type.getElementTypeBitWidth(), 8));
  return static_cast<std::int64_t>(llvm::alignTo(elements * elementBytes, plan::alignment));
}

bool isSkipped(OpResult result) {
  return result.use_empty() && result.getOwner()->hasAttr(nn::backwardAttr) &&
         !nn::isRecomputed(result.getOwner());
}

namespace {

class ArenaPlanner {
public:
  ArenaPlanner(const std::vector<Action> &actions, const std::vector<Bucket> &buckets, bool rounds)
      : actions(actions), buckets(buckets), rounds(rounds) {
    for (const Bucket &bucket : buckets)
      for (const Member &member : bucket.members) { // kernels write these into the gradients' space
        if (member.total)
          written.insert(member.total);
        if (member.isCopied)
          continue;
        written.insert(member.gradient);
        for (Value held : heldBefore(member.gradient))
          written.insert(held);
      }
  }

  void collect() {
    for (auto [number, action] : llvm::enumerate(actions)) {
      const auto now = static_cast<std::int64_t>(number);
      if (action.phase == plan::Phase::forward)
        forwardEnd = now;
      if (action.kind == ActionKind::compute || action.kind == ActionKind::loss)
        for (Value operand : action.op->getOperands())
          touch(operand, now);
      if (action.kind == ActionKind::copy)
        touch(buckets[action.bucket].members[action.member].gradient, now);
      if (action.kind == ActionKind::compute)
        for (OpResult result : action.op->getResults())
          if (!written.contains(result) && !isSkipped(result))
            produce(result, now);
      if (action.kind == ActionKind::gather || action.kind == ActionKind::wait)
        travel(buckets[action.bucket], action.kind, now);
    }
    for (Value all : carried) {
      arena.tensors[all].first = 0;
      arena.tensors[all].last = static_cast<std::int64_t>(actions.size()) - 1;
    }
  }

  LogicalResult nameOutput(nn::StepOp step) {
    for (auto output : step.getOps<nn::OutputOp>()) {
      auto found = arena.tensors.find(output.getValue());
      if (found == arena.tensors.end())
        return refuse(output.getLoc())
               << "the model's output '" << output.getName() << "' is computed by no operation";
      found->second.name = output.getName();
      found->second.isOutput = true;
      found->second.last = std::max(found->second.last, forwardEnd);
      names.insert(output.getName());
    }
    return success();
  }

  void nameOthers() {
    for (auto &[value, tensor] : arena.tensors) {
      if (!tensor.name.empty())
        continue;
      const std::string wanted = describe(cast<OpResult>(value));
      tensor.name = wanted;
      unsigned &again = nextNumber.try_emplace(wanted, 2).first->second;
      for (; !names.insert(tensor.name).second; ++again)
        tensor.name = wanted + "." + std::to_string(again);
    }
  }

  Arena finish() {
    sharePlaces();
    std::vector<Buffer> buffers;
    llvm::DenseMap<Value, std::size_t> bufferOf;
    for (auto &[value, tensor] : arena.tensors) {
      // An operand comes before the result that takes its place, so its buffer exists already.
      auto source = placeOf.find(value);
      if (source != placeOf.end()) {
        bufferOf[value] = bufferOf.lookup(source->second);
        buffers[bufferOf[value]].last = tensor.last;
        continue;
      }
      bufferOf[value] = buffers.size();
      buffers.push_back({tensor.first, tensor.last, tensor.reserve});
    }
    Placement placement = place(buffers);
    for (auto &[value, tensor] : arena.tensors)
      tensor.offset = placement.offsets[bufferOf.lookup(value)];
    arena.bytes = placement.bytes;
    return std::move(arena);
  }

private:
  void produce(OpResult result, std::int64_t now) {
    ArenaTensor &tensor = arena.tensors[result];
    tensor.first = tensor.last = now;
    tensor.isRounded =
        rounds && isStoredRounded(result, [&](Value value) { return isRounded(value); });
    tensor.reserve = arenaReserve(cast<RankedTensorType>(result.getType()), tensor.isRounded);
  }

  bool isRounded(Value value) const {
    auto found = arena.tensors.find(value);
    return found != arena.tensors.end() && found->second.isRounded;
  }

  /// Extends lifetimes over a message: until the wait ends, the channel reads factors and writes
  /// the gathered tensors. Where the wait comes first, it belongs to the step before: the gathered
  /// tensors then live across the step's end, and factors, which are copied, end at the gather.
  void travel(const Bucket &bucket, ActionKind kind, std::int64_t now) {
    for (Value factor : bucket.factors())
      touch(factor, now);
    if (kind == ActionKind::wait)
      arrived.insert(bucket.number);
    for (Value all : bucket.gathered()) {
      if (kind == ActionKind::gather)
        produce(cast<OpResult>(all), now);
      touch(all, now);
      if (kind == ActionKind::gather && arrived.contains(bucket.number))
        carried.push_back(all);
    }
  }

  void touch(Value value, std::int64_t now) {
    auto found = arena.tensors.find(value);
    if (found != arena.tensors.end())
      found->second.last = now;
  }

  /// The operands whose places the operation's results may take: those of a flat loop, and what
  /// rows are added onto.
  static ValueRange leavingPlaces(Operation *op) {
    if (auto loop = dyn_cast<nn::PointwiseOp>(op))
      return isFlat(loop) ? ValueRange(loop.getInputs()) : ValueRange();
    auto rows = dyn_cast<nn::EmbeddingBackwardOp>(op);
    return rows && rows.getOnto() != rows.getDy() ? ValueRange(op->getOperands().drop_front(2))
                                                  : ValueRange();
  }

  /// Decides which result takes which dying operand's place.
  void sharePlaces() {
    for (auto [number, action] : llvm::enumerate(actions)) {
      if (action.kind != ActionKind::compute)
        continue;
      llvm::DenseSet<Value> taken;
      const ValueRange leaving = leavingPlaces(action.op);
      for (Value result : action.op->getResults())
        for (Value operand : leaving)
          if (fits(operand, result, static_cast<std::int64_t>(number)) &&
              taken.insert(operand).second) {
            placeOf[result] = operand;
            break;
          }
    }
  }

  bool fits(Value operand, Value result, std::int64_t now) const {
    auto from = arena.tensors.find(operand), to = arena.tensors.find(result);
    return from != arena.tensors.end() && to != arena.tensors.end() && from->second.last == now &&
           from->second.reserve == to->second.reserve && operand.getType() == result.getType() &&
           from->second.isRounded == to->second.isRounded;
  }

  /// A tensor's name: "conv1" for a result, "conv1.mean" for a second result, "conv1.dx" in
  /// backward, "conv1.again" where it is computed again, "conv1.gathered" for all ranks' "conv1".
  std::string describe(OpResult result) const {
    Operation *op = result.getOwner();
    if (auto gather = dyn_cast<sync::AllGatherOp>(op)) {
      Value factor = gather.getLocal()[result.getResultNumber()];
      auto found = arena.tensors.find(factor);
      auto name = factor.getDefiningOp()->getAttrOfType<StringAttr>("name");
      return (found != arena.tensors.end() ? found->second.name : name.str()) + ".gathered";
    }
    std::string name =
        (nn::layerOf(op).empty() ? op->getName().stripDialect() : nn::layerOf(op)).str();
    if (nn::isRecomputed(op))
      name += ".again";
    if (std::optional<KernelUse> use = kernelOf(op)) {
      StringRef role = use->outs[result.getResultNumber()];
      if (role != "y")
        return name + "." + role.str();
    }
    if (op->hasAttr(nn::backwardAttr) && !nn::isRecomputed(op))
      name += ".grad";
    return name;
  }

  const std::vector<Action> &actions;
  const std::vector<Bucket> &buckets;
  bool rounds;
  Arena arena;
  llvm::DenseSet<Value> written;
  llvm::DenseSet<std::int64_t> arrived; ///< buckets whose wait has been seen
  llvm::SmallVector<Value> carried;     ///< gathered tensors that live across the step's end
  llvm::DenseMap<Value, Value> placeOf; ///< result → the operand whose place it takes
  llvm::StringSet<> names;
  llvm::StringMap<unsigned> nextNumber; ///< for each wanted name, the number that makes the next
                                        ///< one unique
  std::int64_t forwardEnd = 0;
};

} // namespace

FailureOr<Arena> planArena(nn::StepOp step, const std::vector<Action> &actions,
                           const std::vector<Bucket> &buckets, bool rounds) {
  ArenaPlanner planner(actions, buckets, rounds);
  planner.collect();
  if (failed(planner.nameOutput(step)))
    return failure();
  planner.nameOthers();
  return planner.finish();
}

} // namespace syncline::lower
