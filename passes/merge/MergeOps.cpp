// Between sync's problems and solutions as operations and the solver's as structs.
#include "passes/merge/MergeOps.h"

#include "passes/cost/CollectiveTime.h"

using namespace mlir;
using namespace syncline;

FailureOr<solver::MergeProblem> syncline::toMergeProblem(sync::ProblemOp op) {
  Result<std::unique_ptr<solver::CollectiveCost>> cost = cost::collectiveTime(op.getCost());
  if (!cost)
    return op.emitOpError(cost.status().message());
  solver::MergeProblem problem;
  problem.options.push_back({solver::Scheme::ring, std::move(*cost)});
  for (auto [bytes, ready] : llvm::zip(op.getBytes(), op.getReady().getValues()))
    problem.layers.push_back({bytes, ready});
  if (Status valid = solver::validate(problem); !valid)
    return op.emitOpError(valid.message());
  return problem;
}

FailureOr<sync::ProblemOp> syncline::problemOf(sync::SolutionOp op) {
  auto problem = SymbolTable::lookupNearestSymbolFrom<sync::ProblemOp>(op, op.getProblemAttr());
  if (!problem)
    return op.emitOpError("expected a 'sync.problem' named '") << op.getProblem() << "'";
  return problem;
}

FailureOr<solver::Solution> syncline::toSolution(sync::SolutionOp op,
                                                 const solver::MergeProblem &problem) {
  solver::Solution solution;
  std::size_t first = 0;
  for (size_t i = 0; i < op.getEnds().size(); ++i) {
    auto end = static_cast<std::size_t>(op.getEnds()[i]);
    if (end > problem.layers.size())
      return op.emitOpError("bucket ")
             << i << " ends at layer " << end << " of " << problem.layers.size();
    solver::Group group{.firstLayer = first, .layerCount = end - first};
    for (; first < end; ++first)
      group.bytes += problem.layers[first].bytes;
    group.option = problem.bestOption(group.bytes);
    group.ready = problem.layers[end - 1].ready;
    group.start = op.getStart().getValues()[i];
    group.end = op.getEnd().getValues()[i];
    solution.groups.push_back(group);
  }
  solution.finish = op.getFinish().convertToDouble();
  return solution;
}

sync::TimesAttr syncline::timesAttr(OpBuilder &builder, llvm::ArrayRef<double> seconds) {
  return sync::TimesAttr::get(builder.getContext(),
                              llvm::SmallVector<cluster::Real>(seconds.begin(), seconds.end()));
}

sync::SolutionOp syncline::createSolution(OpBuilder &builder, sync::ProblemOp problem,
                                          StringRef planner, const solver::MergeResult &result) {
  llvm::SmallVector<std::int64_t> ends;
  llvm::SmallVector<double> starts, finishes;
  for (const solver::Group &group : result.solution.groups) {
    ends.push_back(static_cast<std::int64_t>(group.firstLayer + group.layerCount));
    starts.push_back(group.start);
    finishes.push_back(group.end);
  }
  return builder.create<sync::SolutionOp>(
      problem.getLoc(), FlatSymbolRefAttr::get(problem.getSymNameAttr()),
      builder.getStringAttr(planner), builder.getDenseI64ArrayAttr(ends),
      timesAttr(builder, starts), timesAttr(builder, finishes),
      builder.getF64FloatAttr(result.solution.finish), builder.getF64FloatAttr(result.bound()),
      timesAttr(builder, result.certificate.earliestFinish));
}

cluster::Scheme syncline::toSyncScheme(solver::Scheme) {
  // P1 offers one scheme so far; sync's enum grows with the runtime's.
  return cluster::Scheme::ring;
}
