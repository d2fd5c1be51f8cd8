// Order bench: the period where the next forward pass waits for each gradient alone, beside the
// proved bound, the best plan in ready order and what other systems do, for layer traces.
//
//   bench-order TRACE.csv ...      tables for each trace; rings of 4 and 16 ranks
//
// DeAR stands with its best size of bucket. Exit code 1 when a solution or a bound is refused, when
// a period is longer than in ready order, or when a limit of planning time is missed.
#include "passes/proof/OrderChecker.h"
#include "passes/solver/OrderPlanner.h"
#include "passes/solver/OrderRivals.h"
#include "passes/solver/Planner.h"
#include "tests/support/TraceOrder.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

using namespace syncline;
using namespace syncline::problem;
using namespace syncline::proof;
using namespace syncline::solver;
using namespace syncline::test;

namespace {

/// The shortest period of the other systems.
struct Rivals {
  double dear = 0, p3 = 0, byteScheduler = 0, ticTac = 0; ///< seconds

  explicit Rivals(const OrderProblem &problem)
      : dear(dearPeriod(problem, 1 << 16)), p3(p3Order(problem, 200'000).period),
        byteScheduler(byteSchedulerOrder(problem, 4'096'000, 4'096'000).period),
        ticTac(ticTacOrder(problem).period) {
    for (std::int64_t size = 1 << 17; size <= 1 << 30; size *= 2)
      dear = std::min(dear, dearPeriod(problem, size));
  }
};

struct Timed {
  OrderResult order;
  double planning = 0, checking = 0; ///< seconds
  bool isAccepted = true;
};

Timed timed(const OrderProblem &problem, const Solution &merged) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  Timed result{.order = planOrder(problem, merged)};
  const auto planned = Clock::now();
  for (const auto &refused :
       {checkOrder(problem, result.order.solution),
        checkOrderBound(problem, result.order.certificate, result.order.solution.period)})
    if (refused) {
      std::printf("refused: %s\n", refused->message.c_str());
      result.isAccepted = false;
    }
  result.planning = std::chrono::duration<double>(planned - begin).count();
  result.checking = std::chrono::duration<double>(Clock::now() - planned).count();
  return result;
}

bool row(const std::vector<TraceLayer> &trace, int ranks, double gigabits) {
  const OrderProblem problem = problemOf(trace, ranks, gigabits);
  if (Status valid = validate(problem); !valid) {
    std::printf("%s\n", valid.message().c_str());
    return false;
  }
  const PlanResult merged = *(*parsePlanner("optimal"))->plan(problem.sync);
  const Timed result = timed(problem, merged.plan);
  const Rivals rivals(problem);
  const double period = result.order.solution.period;
  const double barrier = merged.plan.finish + problem.forward;
  std::printf("| %5d | %5.1f | %9.2f | %9.2f | %9.2f | %6.2f %% | %5.3f | %5.3f | %5.3f | %5.3f | "
              "%5.3f | %4zu | %6.1f |\n",
              ranks, gigabits, problem.compute() * 1e3, result.order.certificate.bound * 1e3,
              period * 1e3, result.order.gap() * 1e2, barrier / period, rivals.dear / period,
              rivals.p3 / period, rivals.byteScheduler / period, rivals.ticTac / period,
              result.order.solution.pieces.size(), result.planning * 1e3);
  return result.isAccepted && period <= barrier * (1 + 1e-9);
}

/// ResNet's mix of sizes, ready and read evenly.
bool timeSize(std::size_t count, double limit) {
  std::vector<TraceLayer> trace;
  for (std::size_t i = 0; i < count; ++i)
    trace.push_back({i % 3 == 2 ? std::int64_t{1} << (14 + 6 * i / count) : 1024, 2e-4, 4e-4});
  const OrderProblem problem = problemOf(trace, 16, 10);
  const PlanResult merged = *(*parsePlanner("optimal"))->plan(problem.sync);
  const Timed result = timed(problem, merged.plan);
  std::printf("| %zu | %.2f %% | %.0f | %.0f | %.0f |\n", count, result.order.gap() * 1e2,
              result.planning * 1e3, limit * 1e3, result.checking * 1e3);
  return result.isAccepted && result.planning <= limit;
}

} // namespace

int main(int count, char **words) {
  bool good = true;
  for (int i = 1; i < count; ++i) {
    std::printf("\n%s; periods over ours: the barrier's in ready order, DeAR's, P3's, "
                "ByteScheduler's, TicTac's\n\n| ranks | Gb/s | compute (ms) | bound (ms) | period "
                "(ms) | gap | barrier | dear | p3 | bytescheduler | tictac | messages | planning "
                "(ms) |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
                words[i]);
    const std::vector<TraceLayer> trace = readTrace(words[i]);
    for (int ranks : {4, 16})
      for (double gigabits : {1.0, 2.5, 5.0, 10.0, 25.0, 100.0})
        good &= row(trace, ranks, gigabits);
  }
  std::printf(
      "\n| layers | gap | planning (ms) | limit (ms) | check (ms) |\n|---|---|---|---|---|\n");
  good &= timeSize(467, 0.05);
  good &= timeSize(10'000, 2);
  good &= timeSize(100'000, 20);
  return good ? 0 : 1;
}
