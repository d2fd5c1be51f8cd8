// Reads what `compile` wrote.
#include "passes/merge/PlannedModule.h"

#include "ir/FirstOf.h"
#include "ir/plan/Plan.h"
#include "ir/sync/Consistency.h"
#include "passes/merge/ReadProblem.h"

using namespace mlir;

namespace syncline::merge {

static std::optional<std::int64_t> samplesOf(ModuleOp module) {
  if (auto program = firstOf<plan::ProgramOp>(module))
    return program.getBatch();
  std::optional<std::int64_t> samples;
  bool agree = true;
  module.walk([&](sync::LayerOp layer) {
    if (!layer.getMatmul())
      return;
    const std::int64_t k = (*layer.getMatmul())[2];
    agree &= samples.value_or(k) == k;
    samples = k;
  });
  return agree ? samples : std::nullopt;
}

Result<PlannedModule> readPlannedModule(ModuleOp module) {
  auto problem = firstOf<sync::ProblemOp>(module);
  auto solution = firstOf<sync::SolutionOp>(module);
  const cluster::SpecAttr spec = sync::gradientCluster(module);
  if (!problem || !solution || !spec)
    return Status::badInput("expected a problem, its solution and a cluster");
  FailureOr<PlannedProblem> planned = PlannedProblem::create(problem, spec);
  if (failed(planned))
    return Status::badInput("not a problem");
  problem::Solution claimed = toSolution(solution, planned->asPlanned());
  if (auto reason = rejectionOf(problem, planned->asPlanned(), claimed))
    return Status::badInput(*reason);
  return PlannedModule{problem, solution, std::move(*planned), std::move(claimed),
                       samplesOf(module)};
}

} // namespace syncline::merge
