// The judge of a build that found no Z3: it refuses every question.
#include "passes/z3/BestPlan.h"
#include "passes/z3/OrderJudge.h"

namespace syncline::z3judge {

Status checkAvailable() {
  return Status::badInput("this syncline was built without Z3; install Z3 (Debian, Ubuntu: "
                          "libz3-dev) and build syncline again");
}

Result<Answer> findPlan(const Problem &, const Question &, double) { return checkAvailable(); }

Result<bool> canFinishBy(const Problem &, double) { return checkAvailable(); }

Result<Answer> findBestPlan(const Problem &, std::size_t, const Known &, double, const Clock &) {
  return checkAvailable();
}

Result<OrderAnswer> findOrder(const OrderProblem &, const OrderSolution &, double, double) {
  return checkAvailable();
}

} // namespace syncline::z3judge
