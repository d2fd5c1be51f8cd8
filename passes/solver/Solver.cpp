// Narrow label searches find a good solution, then a wide one proves the bound.
#include "passes/solver/Solver.h"

#include "passes/problem/Interference.h"
#include "passes/solver/InitialSolution.h"
#include "passes/solver/Labels.h"
#include "passes/solver/MergeMessages.h"
#include "passes/solver/PlanSteps.h"
#include "passes/solver/Replay.h"
#include "passes/solver/StateBound.h"

#include <algorithm>

namespace syncline::solver {

namespace {

/// Bisects between a target that is proved and one that is not.
template <typename Proves>
double greatestProved(double proved, double open, int steps, Proves proves) {
  for (int step = 0; step < steps && open > proved * (1 + 1e-12); ++step) {
    double middle = (proved + open) / 2;
    (proves(middle) ? proved : open) = middle;
  }
  return proved;
}

/// The number of states that a search may keep after a layer; more where there are few layers.
std::size_t widestSearch(const Problem &problem, const SolverOptions &options) {
  std::size_t layers = problem.layers.size() + 1;
  std::size_t usual = std::min(options.width, std::max<std::size_t>(options.goal / layers, 100));
  std::size_t wide = std::max(usual, options.labels / layers) / problem.mergeClasses.size();
  return std::max<std::size_t>(1, std::min(wide, options.maxLabels / layers));
}

/// One run: the best solution so far and the best bound so far.
class Search {
public:
  Search(const Problem &problem, const Solution *known, const SolverOptions &options)
      : problem(problem), widest(widestSearch(problem, options)),
        goodGap(slowsComputation(problem) ? options.slowedGap : 0) {
    certificate().relaxations = chooseRelaxations(problem);
    result.plan = initialSolution(problem);
    if (known && known->finish < result.plan.finish)
      result.plan = *known;
  }

  SolverResult run() {
    certificate().bound = boundAtRoot();
    for (std::size_t width : {std::size_t{24}, std::size_t{160}, widest})
      if (!result.optimal() && (width == widest || 2 * width <= widest) &&
          (width < widest || !isGood()))
        improve(width);
    // If the wide search had to cut states, a gap remains; lower targets leave fewer states alive.
    for (int step = 0; step < 6 && !isGood(); ++step)
      if (double target = (certificate().bound + unproved()) / 2; !prove(target))
        tooHard = target;
    result.plan = mergeMessages(problem, std::move(result.plan), result.plan.finish);
    return std::move(result);
  }

private:
  Certificate &certificate() { return result.certificate; }
  bool isGood() const { return result.optimal() || result.gap() <= goodGap; }
  double unproved() const { return std::min(tooHard, result.plan.finish); }

  void accept(const LabelSearch &search) {
    if (search.choices)
      result.plan = replay(problem, *search.choices);
  }

  /// The bound that the relaxations prove without a search.
  double boundAtRoot() const {
    const PlanState root = PlanSteps(problem).root();
    auto isHopeless = [&](double target) {
      StateBound bound(problem, result.certificate.relaxations, target);
      return !bound.isViable(bound.slack(root, 0));
    };
    if (isHopeless(result.plan.finish))
      return result.plan.finish;
    return greatestProved(problem.computeFree, result.plan.finish, 40, isHopeless);
  }

  /// Searches for a better solution. The best one is optimal when the search cuts nothing.
  void improve(std::size_t width) {
    double target = result.plan.finish;
    StateBound bound(problem, certificate().relaxations, target);
    LabelSearch search = searchLabels(problem, bound, target, width);
    accept(search);
    if (!search.isCut)
      certificate().bound = result.plan.finish;
  }

  /// Searches below the target. Returns whether that proves a bound: the target, or the finish that
  /// was found below it.
  bool prove(double target) {
    StateBound bound(problem, certificate().relaxations, target);
    LabelSearch search = searchLabels(problem, bound, target, widest, true);
    accept(search);
    if (search.isCut)
      return false;
    certificate().bound = search.choices ? result.plan.finish : target;
    return true;
  }

  const Problem &problem;
  std::size_t widest;
  double goodGap;                                           ///< the search ends here
  double tooHard = std::numeric_limits<double>::infinity(); ///< the least target that prove() did
                                                            ///< not settle
  SolverResult result;
};

} // namespace

/// Where classes of operations lose unequally, labels are followed with what each message takes in
/// its place, but a label that another one dominates may be the better one. So the bound is that of
/// the least losses, and the plans for those and for equal losses are tried too.
static SolverResult solveByClass(const Problem &problem, const SolverOptions &options,
                                 const Solution *known) {
  const Problem least = withLeastLosses(problem);
  SolverResult result = solve(least, options);
  const auto there = [&](const Problem &other, const Solution &plan) {
    return replay(problem, choicesOf(other, plan));
  };
  Solution best = there(least, result.plan);
  const auto improve = [&](Solution plan) {
    if (plan.finish < best.finish)
      best = std::move(plan);
  };
  const Problem alike = withoutClasses(problem);
  improve(there(alike, solve(alike, options).plan));
  if (known)
    improve(*known);
  bool isCut = true;
  for (std::size_t width : {std::size_t{24}, std::size_t{160}, widestSearch(problem, options)}) {
    if (!isCut || isProved(best.finish, result.bound()))
      break;
    const StateBound bound(least, result.certificate.relaxations, best.finish);
    const LabelSearch search = searchLabels(problem, bound, best.finish, width);
    isCut = search.isCut;
    if (search.choices)
      improve(replay(problem, *search.choices));
  }
  result.plan = mergeMessages(problem, best, best.finish);
  return result;
}

SolverResult solve(const Problem &problem, const SolverOptions &options, const Solution *known) {
  if (tellsClasses(problem) && !problem.layers.empty())
    return solveByClass(problem, options, known);
  if (!problem.layers.empty())
    return Search(problem, known, options).run();
  SolverResult result;
  result.plan = replay(problem, {});
  result.certificate.bound = result.plan.finish;
  return result;
}

} // namespace syncline::solver
