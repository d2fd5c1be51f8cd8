// Rules about memory: P9, P10 and P33.
#include "ir/nn/NN.h"
#include "ir/plan/Plan.h"
#include "passes/check/PlanFacts.h"

#include <map>

using namespace mlir;

namespace syncline::check {

static bool isFilledOutside(plan::Space space) {
  switch (space) {
  case plan::Space::input:
  case plan::Space::target:
  case plan::Space::parameters:
  case plan::Space::state:
    return true;
  case plan::Space::gradients:
  case plan::Space::arena:
    return false;
  }
  return false;
}

/// Rule P9 for one access of a step.
static LogicalResult checkAccess(const PlanFacts &facts, std::int64_t number, plan::TensorOp tensor,
                                 bool isWrite) {
  Operation *op = facts.steps[number].op;
  const auto reject = [&](const llvm::Twine &message) {
    InFlightDiagnostic diagnostic = op->emitOpError(message);
    diagnostic.attachNote(tensor.getLoc()) << "declared here";
    return diagnostic;
  };
  if (auto live = tensor.getLive(); live && (number < (*live)[0] || number > (*live)[1]))
    return reject("P9: operation " + llvm::Twine(number) + " touches '" + tensor.getName() +
                  "' outside its lifetime [" + llvm::Twine((*live)[0]) + ", " +
                  llvm::Twine((*live)[1]) + "]");
  const plan::Space space = tensor.getSpace();
  if (isWrite) {
    const bool isKept = isFilledOutside(space) && space != plan::Space::state;
    return isKept ? LogicalResult(reject("P9: writes '" + tensor.getName() + "' of space '" +
                                         plan::stringifySpace(space) + "'"))
                  : success();
  }
  if (isFilledOutside(space))
    return success();
  auto written = facts.writers.find(tensor);
  if (written == facts.writers.end() || written->second.front() >= number)
    return reject("P9: reads '" + tensor.getName() + "' before it is written");
  return success();
}

static LogicalResult checkAccesses(const PlanFacts &facts) {
  for (size_t number = 0; number < facts.steps.size(); ++number) {
    const Step &step = facts.steps[number];
    for (plan::TensorOp tensor : step.reads)
      if (failed(checkAccess(facts, static_cast<std::int64_t>(number), tensor, false)))
        return failure();
    for (plan::TensorOp tensor : step.writes)
      if (failed(checkAccess(facts, static_cast<std::int64_t>(number), tensor, true)))
        return failure();
  }
  return success();
}

/// Whether the step's results may take the places of operands: of any operand in a flat loop, of
/// what rows are added onto in an embedding's gradient.
static bool leavesPlace(const Step &step, plan::TensorOp operand) {
  if (auto loop = dyn_cast<plan::PointwiseOp>(step.op))
    return loop.getFlat() && llvm::is_contained(step.reads, operand);
  auto call = dyn_cast<plan::CallOp>(step.op);
  return call && call.getCallee() == plan::Kernel::embeddingBackward && step.reads.size() == 3 &&
         step.reads[2] == operand && step.reads[1] != operand;
}

/// The exception of P10: `later` is a result of the step in which `earlier` dies, and takes
/// exactly its place.
static bool takesPlace(const PlanFacts &facts, plan::TensorOp earlier, plan::TensorOp later) {
  const std::int64_t shared = (*earlier.getLive())[1];
  if ((*later.getLive())[0] != shared || earlier.getOffset() != later.getOffset() ||
      earlier.getReserve() != later.getReserve() || earlier.getType() != later.getType() ||
      earlier.getRounded() != later.getRounded() || shared < 0 ||
      shared >= static_cast<std::int64_t>(facts.steps.size()))
    return false;
  const Step &step = facts.steps[shared];
  return leavesPlace(step, earlier) && llvm::is_contained(step.writes, later);
}

static bool overlapInSpace(plan::TensorOp a, plan::TensorOp b) {
  return a.getOffset() < b.getOffset() + b.getReserve() &&
         b.getOffset() < a.getOffset() + a.getReserve();
}

static LogicalResult rejectOverlap(plan::TensorOp a, plan::TensorOp b) {
  InFlightDiagnostic diagnostic = b.emitOpError("P10: '") << b.getName() << "' overlaps '"
                                                          << a.getName() << "' in space and time";
  diagnostic.attachNote(a.getLoc()) << "declared here";
  return diagnostic;
}

/// Rule P10 in the arena. A sweep over time keeps the live tensors, ordered by offset. They are
/// disjoint or equally placed, so their ends have the order of their offsets and only neighbours
/// need comparing.
static LogicalResult checkArena(const PlanFacts &facts) {
  llvm::SmallVector<plan::TensorOp, 0> tensors;
  for (plan::TensorOp tensor : facts.tensors)
    if (tensor.getSpace() == plan::Space::arena)
      tensors.push_back(tensor);
  llvm::stable_sort(tensors, [](plan::TensorOp a, plan::TensorOp b) {
    return (*a.getLive())[0] < (*b.getLive())[0];
  });
  using Alive = std::multimap<std::int64_t, plan::TensorOp>;
  Alive alive;
  std::multimap<std::int64_t, Alive::iterator> deaths; // keyed by the lifetime's last operation
  for (plan::TensorOp tensor : tensors) {
    const std::int64_t now = (*tensor.getLive())[0], offset = tensor.getOffset(),
                       end = offset + tensor.getReserve();
    for (; !deaths.empty() && deaths.begin()->first < now; deaths.erase(deaths.begin()))
      alive.erase(deaths.begin()->second);
    const auto collides = [&](plan::TensorOp other) {
      return overlapInSpace(other, tensor) && !takesPlace(facts, other, tensor) &&
             !takesPlace(facts, tensor, other);
    };
    const auto place = alive.lower_bound(offset);
    for (auto above = place; above != alive.end() && above->first < end; ++above)
      if (collides(above->second))
        return rejectOverlap(above->second, tensor);
    for (auto below = place; below != alive.begin();) {
      plan::TensorOp other = (--below)->second;
      if (collides(other))
        return rejectOverlap(other, tensor);
      if (static_cast<std::int64_t>(other.getOffset() + other.getReserve()) <= offset)
        break;
    }
    deaths.emplace((*tensor.getLive())[1], alive.emplace(offset, tensor));
  }
  return success();
}

/// Rule P10 in the spaces that live as long as the run. P12 judges parameters and gradients.
static LogicalResult checkFixed(const PlanFacts &facts, plan::Space space) {
  llvm::SmallVector<plan::TensorOp, 0> tensors;
  for (plan::TensorOp tensor : facts.tensors)
    if (tensor.getSpace() == space)
      tensors.push_back(tensor);
  llvm::stable_sort(
      tensors, [](plan::TensorOp a, plan::TensorOp b) { return a.getOffset() < b.getOffset(); });
  for (size_t i = 1; i < tensors.size(); ++i)
    if (overlapInSpace(tensors[i - 1], tensors[i]))
      return rejectOverlap(tensors[i - 1], tensors[i]);
  return success();
}

/// Rule P33 but for what TensorOp's verifier checks: only a step in bf16 has rounded tensors, and
/// none of them is gathered, since gathered parts travel as f32.
static LogicalResult checkRounded(const PlanFacts &facts) {
  auto module = facts.program->getParentOfType<ModuleOp>();
  const StringRef precision = nn::precisionOf(module);
  for (plan::TensorOp tensor : facts.tensors) {
    if (!tensor.getRounded())
      continue;
    if (!nn::storesBfloat16(module))
      return tensor.emitOpError("P33: '")
             << tensor.getName() << "' is rounded in a step that computes in " << precision;
    auto written = facts.writers.find(tensor);
    if (written == facts.writers.end())
      continue;
    for (std::int64_t number : written->second)
      if (Operation *op = facts.steps[number].op; !isa<plan::CallOp, plan::PointwiseOp>(op)) {
        InFlightDiagnostic diagnostic = op->emitOpError("P33: writes '")
                                        << tensor.getName() << "', which is rounded";
        diagnostic.attachNote(tensor.getLoc()) << "declared here";
        return diagnostic;
      }
  }
  return success();
}

LogicalResult checkMemory(const PlanFacts &facts) {
  if (failed(checkRounded(facts)) || failed(checkAccesses(facts)) || failed(checkArena(facts)))
    return failure();
  for (plan::Space space : {plan::Space::input, plan::Space::target, plan::Space::state})
    if (failed(checkFixed(facts, space)))
      return failure();
  return success();
}

} // namespace syncline::check
