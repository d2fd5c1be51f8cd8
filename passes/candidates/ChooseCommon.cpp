// Tries each size's decisions on all sizes.
#include "passes/candidates/ChooseCommon.h"

#include "ir/FirstOf.h"
#include "ir/plan/Plan.h"
#include "ir/sync/Sync.h"
#include "passes/merge/ReadProblem.h"
#include "passes/solver/CommonPlanner.h"

#include <algorithm>

using namespace mlir;

namespace syncline::candidates {
namespace {

double sumOfSteps(const std::vector<Choice> &plans) {
  double sum = 0;
  for (const Choice &choice : plans)
    sum += stepOf(*choice.plan);
  return sum;
}

/// A request for a plan that decides as `decided` has.
Request asDecided(const Choice &decided) {
  Request request;
  request.asked = decided.outcomes[decided.chosen].candidate;
  ModuleOp plan = *decided.plan;
  const problem::Problem problem = merge::statedProblem(firstOf<sync::ProblemOp>(plan));
  request.asked.planner =
      solver::commonPlanner(problem, merge::toSolution(firstOf<sync::SolutionOp>(plan), problem));
  return request;
}

/// Whether parameters, gradients and messages of both plans lie alike.
bool haveEqualBuckets(ModuleOp one, ModuleOp other) {
  auto a = firstOf<plan::ProgramOp>(one), b = firstOf<plan::ProgramOp>(other);
  auto ofA = llvm::to_vector(a.getOps<plan::BucketOp>());
  auto ofB = llvm::to_vector(b.getOps<plan::BucketOp>());
  return ofA.size() == ofB.size() && llvm::all_of(llvm::zip(ofA, ofB), [](auto pair) {
           auto [x, y] = pair;
           return x.getMembers() == y.getMembers() && x.getScheme() == y.getScheme() &&
                  x.getChannel() == y.getChannel() && x.getOffset() == y.getOffset() &&
                  x.getExtent() == y.getExtent();
         });
}

} // namespace

Result<CommonChoice> chooseCommon(const Request &request, llvm::ArrayRef<ModuleOp> sources,
                                  const ExpectFits &fits, const EnterPhase &enter) {
  std::vector<Choice> own;
  CommonChoice best;
  for (ModuleOp source : sources) {
    SYNCLINE_TRY_GET(choice, choosePlan(request, source, fits, enter));
    best.ownSteps.push_back(stepOf(*choice->plan));
    own.push_back(std::move(*choice));
  }
  Status refusal = Status::ok();
  double least = 0;
  for (std::size_t decided = sources.size(); decided-- > 0;) {
    const Request common = asDecided(own[decided]);
    std::vector<Choice> plans;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      Result<Choice> choice = choosePlan(i == decided ? request : common, sources[i], fits, enter);
      if (!choice && choice.status().kind() == ErrorKind::internal)
        return choice.status();
      if (choice && !haveEqualBuckets(*choice->plan, *own[decided].plan))
        choice = Status::badInput("the step of another size lays out its gradients differently");
      if (!choice) {
        if (decided + 1 == sources.size())
          refusal = choice.status();
        break;
      }
      plans.push_back(std::move(*choice));
    }
    if (plans.size() < sources.size())
      continue;
    if (const double sum = sumOfSteps(plans); best.plans.empty() || sum < least) {
      least = sum;
      best.plans = std::move(plans);
      best.decided = decided;
    }
  }
  if (best.plans.empty())
    return refusal;
  return best;
}

} // namespace syncline::candidates
