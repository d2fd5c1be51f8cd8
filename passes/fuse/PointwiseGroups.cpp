// Groups elementwise operations.
#include "passes/fuse/PointwiseGroups.h"

#include "passes/fuse/ScalarBody.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <algorithm>

using namespace mlir;
using namespace syncline::fuse;
using namespace syncline::nn;

static ArrayRef<std::int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// The elements of a constant, when they are floats and all equal; null otherwise.
static SplatElementsAttr splatOf(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto elements = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : nullptr;
  return elements && isa<FloatType>(elements.getElementType()) ? elements : nullptr;
}

FloatAttr syncline::fuse::splatValue(Value value) {
  SplatElementsAttr elements = splatOf(value);
  return elements ? elements.getSplatValue<FloatAttr>() : FloatAttr();
}

ArrayRef<std::int64_t> PointwiseGroup::shape() const {
  return shapeOf(members.front()->getResult(0));
}

/// The members as a set, for look-ups.
static llvm::SmallPtrSet<Operation *, maxMembers> setOf(const PointwiseGroup &group) {
  return {group.members.begin(), group.members.end()};
}

llvm::SmallVector<Value> PointwiseGroup::inputs() const {
  const auto inside = setOf(*this);
  llvm::SmallSetVector<Value, maxInputs> found;
  for (Operation *op : members)
    for (Value operand : op->getOperands())
      if (!inside.contains(operand.getDefiningOp()) && !splatOf(operand))
        found.insert(operand);
  return llvm::SmallVector<Value>(found.begin(), found.end());
}

llvm::SmallVector<Value> PointwiseGroup::outputs() const {
  const auto inside = setOf(*this);
  llvm::SmallVector<Value> found;
  for (Operation *op : members)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !inside.contains(user); }))
        found.push_back(result);
  return found;
}

bool PointwiseGroup::isFlat() const {
  return llvm::all_of(inputs(), [&](Value input) { return shapeOf(input) == shape(); });
}

/// The number of tensors of the loop's full shape that it reads or writes.
static std::size_t bigTensors(const PointwiseGroup &group) {
  return group.outputs().size() + llvm::count_if(group.inputs(), [&](Value input) {
           return shapeOf(input) == group.shape();
         });
}

/// Whether the reader is no computation but an update or a synchronisation.
static bool leavesComputation(Operation *user) {
  return isa<UpdateOp>(user) || !isa<NNDialect>(user->getDialect());
}

namespace {

/// The operations that read one value.
struct Readers {
  llvm::SmallVector<Operation *, 2> inOrder; ///< elementwise or not, in program order
  bool leaves = false;                       ///< whether a reader is an update or a synchronisation
};

class Grouping {
public:
  explicit Grouping(StepOp step) {
    for (Operation &op : step.getBody().front()) {
      order.try_emplace(&op, order.size());
      for (Value operand : op.getOperands()) {
        Readers &readers = readersOf[operand];
        readers.inOrder.push_back(&op);
        readers.leaves |= leavesComputation(&op);
      }
    }
    for (Operation &op : step.getBody().front())
      if (isElementwise(&op))
        place(&op);
  }

  std::vector<PointwiseGroup> take();

  std::size_t attempts = 0; ///< how often two groups were tried for joining

private:
  void place(Operation *op);
  bool joinProducers(Operation *op);
  void joinReaders(Operation *op);
  /// Moves the group of `earlier` to `op` and joins it with the group there, if the rules allow it.
  bool join(Operation *earlier, Operation *op);
  bool canMove(const PointwiseGroup &group, const PointwiseGroup &target) const;
  bool isBefore(Operation *a, Operation *b) const { return order.lookup(a) < order.lookup(b); }

  llvm::DenseMap<Operation *, std::size_t> order;
  llvm::DenseMap<Value, Readers> readersOf;
  llvm::DenseMap<Operation *, PointwiseGroup *> groupOf;
  std::vector<std::unique_ptr<PointwiseGroup>> groups; ///< a group that joined another is empty
};

} // namespace

void Grouping::place(Operation *op) {
  groups.push_back(std::make_unique<PointwiseGroup>());
  groups.back()->members.push_back(op);
  groupOf[op] = groups.back().get();
  while (joinProducers(op)) // a group that joined may allow another to join
    ;
  joinReaders(op);
}

bool Grouping::joinProducers(Operation *op) {
  for (Value input : groupOf[op]->inputs())
    if (Operation *producer = input.getDefiningOp(); isElementwise(producer) && join(producer, op))
      return true;
  return false;
}

void Grouping::joinReaders(Operation *op) {
  for (Value input : groupOf[op]->inputs()) {
    if (shapeOf(input) != groupOf[op]->shape())
      continue;
    // The last readers before the operation, in program order.
    llvm::ArrayRef<Operation *> readers = readersOf.find(input)->second.inOrder;
    readers = readers.take_front(
        llvm::partition_point(readers, [&](Operation *reader) { return isBefore(reader, op); }) -
        readers.begin());
    for (Operation *reader : readers.take_back(maxReaders))
      if (groupOf.contains(reader))
        join(reader, op);
  }
}

/// Rules 1 and 2: whether `group` may be computed where `target` is.
bool Grouping::canMove(const PointwiseGroup &group, const PointwiseGroup &target) const {
  Operation *last = target.members.back();
  for (Operation *op : group.members)
    for (Value result : op->getResults()) {
      auto found = readersOf.find(result);
      if (found == readersOf.end())
        continue;
      if (found->second.leaves)
        return false;
      for (Operation *reader : found->second.inOrder) {
        if (!isBefore(reader, last))
          break;
        PointwiseGroup *where = groupOf.lookup(reader);
        if (where != &group && where != &target)
          return false;
      }
    }
  return true;
}

bool Grouping::join(Operation *earlier, Operation *op) {
  PointwiseGroup *group = groupOf[earlier], *target = groupOf[op];
  if (group == target)
    return false;
  ++attempts;
  if (group->members.size() + target->members.size() > maxMembers ||
      group->shape() != target->shape() ||
      earlier->hasAttr(backwardAttr) != op->hasAttr(backwardAttr) || !canMove(*group, *target))
    return false;

  PointwiseGroup both{group->members};
  both.members.append(target->members);
  std::inplace_merge(both.members.begin(), both.members.begin() + group->members.size(),
                     both.members.end(),
                     [&](Operation *a, Operation *b) { return isBefore(a, b); });
  if (both.inputs().size() > maxInputs)
    return false;
  bool groupIsFlat = group->isFlat();
  if (groupIsFlat != target->isFlat() && group->shape().size() > 2 &&
      bigTensors(both) > bigTensors(groupIsFlat ? *target : *group))
    return false;

  for (Operation *member : group->members)
    groupOf[member] = target;
  group->members.clear();
  target->members = std::move(both.members);
  return true;
}

std::vector<PointwiseGroup> Grouping::take() {
  std::vector<PointwiseGroup> result;
  for (auto &group : groups)
    if (!group->members.empty())
      result.push_back(std::move(*group));
  return result;
}

std::vector<PointwiseGroup> syncline::fuse::groupPointwise(StepOp step, std::size_t *attempts) {
  Grouping grouping(step);
  if (attempts)
    *attempts = grouping.attempts;
  return grouping.take();
}
