// Reads a step as plain data, and cuts it into segments.
#include "passes/recompute/PoseStep.h"

#include "passes/lower/Kernels.h"
#include "passes/lower/Lifetimes.h"
#include "passes/lower/Rounding.h"

#include <algorithm>
#include <numeric>

using namespace mlir;

namespace syncline::recompute {

namespace {

constexpr std::int64_t mostSegments = 48, fewestSegments = 4, evenSegments = 16;

class Posing {
public:
  Posing(nn::StepOp step, bool rounds) : rounds(rounds) {
    for (Operation &op : step.getBody().front())
      if (isa<nn::PointwiseOp>(op) || lower::kernelOf(&op))
        add(&op);
    cut();
  }

  PosedStep take() { return std::move(posed); }

private:
  void add(Operation *op) {
    StepOp own;
    for (Value operand : op->getOperands())
      own.operands.push_back(numberOf(operand));
    for (OpResult result : op->getResults()) {
      own.results.push_back(numberOf(result));
      posed.problem.bytes.back() = bytesOf(result);
      own.isKept |= llvm::any_of(result.getUsers(), [](Operation *user) {
        return !user->hasAttr(nn::backwardAttr) && !isForward(user);
      });
    }
    if (auto seconds = op->getAttrOfType<FloatAttr>(nn::secondsAttr))
      own.seconds = seconds.getValueAsDouble();
    own.isBackward = op->hasAttr(nn::backwardAttr);
    own.isHeavy = isHeavy(op);
    own.isKept |= isa<nn::CrossEntropyOp, nn::MeanSquaredErrorOp>(op);
    auto loop = dyn_cast<nn::PointwiseOp>(op);
    own.isFlat = loop && lower::isFlat(loop);
    posed.problem.ops.push_back(std::move(own));
    posed.ops.push_back(op);
  }

  int numberOf(Value value) {
    const auto [found, isNew] = numbers.try_emplace(value, static_cast<int>(numbers.size()));
    if (isNew)
      posed.problem.bytes.push_back(0);
    return found->second;
  }

  /// Whether the result is a gradient of a parameter, or one onto which rows are added for it.
  static bool isGradient(Value result) {
    return llvm::any_of(result.getUsers(), [&](Operation *user) {
      auto rows = dyn_cast<nn::EmbeddingBackwardOp>(user);
      return isa<nn::UpdateOp>(user) || (rows && rows.getOnto() == result && result.hasOneUse() &&
                                         isGradient(rows.getDtable()));
    });
  }

  /// What the result reserves in the arena: nothing where it is a gradient of a parameter.
  std::int64_t bytesOf(OpResult result) {
    if (lower::isSkipped(result) || isGradient(result))
      return 0;
    const bool isRounded = rounds && lower::isStoredRounded(result, [&](Value value) {
                             return rounded.contains(value);
                           });
    if (isRounded)
      rounded.insert(result);
    return lower::arenaReserve(cast<RankedTensorType>(result.getType()), isRounded);
  }

  std::int64_t resultBytes(std::size_t op) const {
    std::int64_t bytes = 0;
    for (const int value : posed.problem.ops[op].results)
      bytes += posed.problem.bytes[value];
    return bytes;
  }

  /// How many tensors of the arena are read across the place in front of each operation.
  std::vector<int> crossings(std::size_t forward) const {
    const Problem &problem = posed.problem;
    std::vector<int> first(problem.bytes.size(), -1), last(problem.bytes.size(), -1);
    for (std::size_t op = 0; op < forward; ++op) {
      for (const int operand : problem.ops[op].operands)
        last[operand] = static_cast<int>(op);
      for (const int result : problem.ops[op].results)
        first[result] = static_cast<int>(op);
    }
    std::vector<int> change(forward + 1);
    for (std::size_t value = 0; value < first.size(); ++value)
      if (problem.bytes[value] > 0 && first[value] >= 0 && last[value] > first[value]) {
        ++change[first[value] + 1];
        --change[last[value] + 1];
      }
    std::partial_sum(change.begin(), change.end(), change.begin());
    return change;
  }

  void cut() {
    const auto isBackward = [](const StepOp &op) { return op.isBackward; };
    const auto forward = static_cast<std::size_t>(
        std::ranges::find_if(posed.problem.ops, isBackward) - posed.problem.ops.begin());
    std::int64_t total = 0;
    for (std::size_t op = 0; op < forward; ++op)
      total += resultBytes(op);
    const std::vector<int> across = crossings(forward);
    const auto cutWhere = [&](std::int64_t segments, auto mayCut) {
      std::vector<int> cuts;
      std::int64_t bytes = 0;
      for (std::size_t op = 0; op < forward; ++op) {
        if (op > 0 && bytes >= total / segments && mayCut(op)) {
          cuts.push_back(static_cast<int>(op));
          bytes = 0;
        }
        bytes += resultBytes(op);
      }
      return cuts;
    };
    posed.problem.cuts = cutWhere(mostSegments, [&](std::size_t op) { return across[op] <= 1; });
    if (posed.problem.segments() < fewestSegments)
      posed.problem.cuts = cutWhere(evenSegments, [](std::size_t) { return true; });
  }

  const bool rounds;
  PosedStep posed;
  llvm::DenseMap<Value, int> numbers;
  llvm::DenseSet<Value> rounded;
};

/// What the layers' names of the operations begin with, up to a '/'; else the first and the last.
std::string nameOf(ArrayRef<Operation *> ops) {
  const StringRef first = nn::layerOf(ops.front()), last = nn::layerOf(ops.back());
  StringRef common = first;
  for (Operation *op : ops)
    while (!nn::layerOf(op).starts_with(common))
      common = common.drop_back();
  if (common != first || common != last)
    common = common.take_front(common.rfind('/') == StringRef::npos ? 0 : common.rfind('/'));
  return common.empty() ? (first + " to " + last).str() : common.str();
}

} // namespace

PosedStep poseStep(nn::StepOp step, bool rounds) { return Posing(step, rounds).take(); }

std::vector<Block> blocksOf(const PosedStep &posed, const Choices &choices) {
  std::vector<Block> blocks;
  const std::vector<int> &cuts = posed.problem.cuts;
  bool isOpen = false; // whether the segment before is full, so that one may join it
  std::size_t begin = 0;
  for (std::size_t segment = 0; segment < choices.size(); ++segment) {
    std::size_t end = begin;
    while (end < posed.ops.size() && !posed.problem.ops[end].isBackward &&
           (segment == cuts.size() || static_cast<int>(end) < cuts[segment]))
      ++end;
    const Choice choice = choices[segment];
    if (choice != Choice::keep) {
      if (choice != Choice::joined || !isOpen)
        blocks.emplace_back();
      blocks.back().extent = choice == Choice::light ? Extent::light : Extent::full;
      blocks.back().ops.append(posed.ops.begin() + static_cast<std::ptrdiff_t>(begin),
                               posed.ops.begin() + static_cast<std::ptrdiff_t>(end));
    }
    isOpen = choice == Choice::full || choice == Choice::joined;
    begin = end;
  }
  for (Block &block : blocks)
    block.name = nameOf(block.ops) +
                 (block.extent == Extent::light ? " (without its longest operations)" : "");
  return blocks;
}

} // namespace syncline::recompute
