// Order bench: the period where the next forward pass waits for each gradient alone, beside the
// proved bound, the best plan in ready order and what other systems do, for layer traces.
//
//   bench-order TRACE.csv ...      tables for each trace, 4 and 16 ranks: by rings alone, and by
//                                  any all-reduce or factors
//
// DeAR stands with its best size of bucket. Exit code 1 when a solution or a bound is refused, when
// a period is longer than that of the messages in ready order or more than 2 % above its bound,
// when a limit of planning time is missed, or by rings alone when another system's period is
// shorter by 1.1e-5.
#include "passes/proof/OrderChecker.h"
#include "passes/solver/OrderPlanner.h"
#include "passes/solver/OrderRivals.h"
#include "passes/solver/Planner.h"
#include "tests/support/DearPeriod.h"
#include "tests/support/TraceOrder.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <optional>
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
      : dear(dearPeriod(problem, 1 << 16)), p3(priorityOrder(problem, 200'000).period),
        byteScheduler(priorityOrder(problem, 4'096'000, 4'096'000).period),
        ticTac(priorityOrder(problem, unlimited).period) {
    for (std::int64_t size = 1 << 17; size <= 1 << 30; size *= 2)
      dear = std::min(dear, dearPeriod(problem, size));
  }
};

struct Timed {
  OrderResult order;
  double planning = 0, checking = 0; ///< seconds of processor time
  bool isAccepted = true;
};

Timed timed(const OrderProblem &problem, const Solution &merged) {
  const std::clock_t begin = std::clock();
  Timed result{.order = planOrder(problem, merged)};
  const std::clock_t planned = std::clock();
  for (const auto &refused :
       {checkOrder(problem, result.order.solution),
        checkOrderBound(problem, result.order.certificate, result.order.solution.period)})
    if (refused) {
      std::printf("refused: %s\n", refused->message.c_str());
      result.isAccepted = false;
    }
  result.planning = static_cast<double>(planned - begin) / CLOCKS_PER_SEC;
  result.checking = static_cast<double>(std::clock() - planned) / CLOCKS_PER_SEC;
  return result;
}

/// The gap in percent, without a minus sign where the period is the bound up to rounding.
double percentOfGap(const OrderResult &order) { return std::max(0.0, order.gap() * 1e2); }

/// Plans, judges, and prints the columns that all tables have.
std::optional<Timed> planned(const OrderProblem &problem, int ranks, double gigabits,
                             const PlanResult &merged) {
  if (Status valid = validate(problem); !valid) {
    std::printf("%s\n", valid.message().c_str());
    return std::nullopt;
  }
  Timed result = timed(problem, merged.plan);
  std::printf("| %5d | %5.1f | %9.2f | %9.2f | %9.2f | %6.2f %% | %5.3f ", ranks, gigabits,
              problem.compute() * 1e3, result.order.certificate.bound * 1e3,
              result.order.solution.period * 1e3, percentOfGap(result.order),
              (merged.plan.finish + problem.forward) / result.order.solution.period);
  return result;
}

/// The plan in ready order may reconstruct gradients from factors while it waits for messages; in
/// the order problem their readers do. So its period there counts.
bool isGood(const OrderProblem &problem, const Timed &result, const PlanResult &merged) {
  const double inReadyOrder = orderOf(problem, merged.plan).period;
  return result.isAccepted && result.order.solution.period <= inReadyOrder * (1 + 1e-9) &&
         result.order.gap() <= 0.02;
}

bool row(const std::vector<TraceLayer> &trace, int ranks, double gigabits) {
  const OrderProblem problem = problemOf(trace, ranks, gigabits);
  const PlanResult merged = *(*parsePlanner("optimal"))->plan(problem.sync);
  const std::optional<Timed> result = planned(problem, ranks, gigabits, merged);
  if (!result)
    return false;
  const Rivals rivals(problem);
  const double period = result->order.solution.period;
  std::printf("| %5.3f | %5.3f | %5.3f | %5.3f | %4zu | %6.1f |\n", rivals.dear / period,
              rivals.p3 / period, rivals.byteScheduler / period, rivals.ticTac / period,
              result->order.solution.messages.size(), result->planning * 1e3);
  const double best = std::min({rivals.dear, rivals.p3, rivals.byteScheduler, rivals.ticTac});
  return isGood(problem, *result, merged) && period <= best * (1 + 1.1e-5);
}

/// How many cases a certificate tells apart.
std::size_t countCases(const OrderCertificate &certificate) {
  std::size_t count = certificate.cases.empty() ? 1 : 0;
  for (const OrderCertificate &one : certificate.cases)
    count += countCases(one);
  return count;
}

bool rowOfAllSchemes(const std::vector<TraceLayer> &trace, int ranks, double gigabits) {
  const OrderProblem problem = problemOfAllSchemes(trace, ranks, gigabits);
  const PlanResult merged = *(*parsePlanner("optimal"))->plan(problem.sync);
  const std::optional<Timed> result = planned(problem, ranks, gigabits, merged);
  if (!result)
    return false;
  const auto factors = std::ranges::count_if(result->order.solution.choices, [](Choice choice) {
    return choice.kind == Choice::Kind::factors;
  });
  std::printf("| %3td | %4zu | %4zu | %6.1f |\n", factors, countCases(result->order.certificate),
              result->order.solution.messages.size(), result->planning * 1e3);
  return isGood(problem, *result, merged);
}

/// ResNet's mix of sizes, ready and read evenly.
bool timeSize(std::size_t count, double limit) {
  std::vector<TraceLayer> trace;
  for (std::size_t i = 0; i < count; ++i)
    trace.push_back({i % 3 == 2 ? std::int64_t{1} << (14 + 6 * i / count) : 1024, 2e-4, 4e-4});
  const OrderProblem problem = problemOf(trace, 16, 10);
  const PlanResult merged = *(*parsePlanner("optimal"))->plan(problem.sync);
  const Timed result = timed(problem, merged.plan);
  std::printf("| %zu | %.2f %% | %.0f | %.0f | %.0f |\n", count, percentOfGap(result.order),
              result.planning * 1e3, limit * 1e3, result.checking * 1e3);
  return result.isAccepted && result.planning <= limit;
}

/// A table: a row for each number of ranks and rate.
bool table(const char *title, const char *columns,
           bool (*row)(const std::vector<TraceLayer> &, int, double),
           const std::vector<TraceLayer> &trace) {
  std::printf(
      "\n%s\n\n| ranks | Gb/s | compute (ms) | bound (ms) | period (ms) | gap | barrier | %s | "
      "messages | planning (ms) |\n",
      title, columns);
  for (std::size_t i = 0;
       i < 10 + static_cast<std::size_t>(std::count(columns, columns + std::strlen(columns), '|'));
       ++i)
    std::printf("|---");
  std::printf("|\n");
  bool good = true;
  for (int ranks : {4, 16})
    for (double gigabits : {1.0, 2.5, 5.0, 10.0, 25.0, 100.0})
      good &= row(trace, ranks, gigabits);
  return good;
}

} // namespace

int main(int count, char **words) {
  bool good = true;
  for (int i = 1; i < count; ++i) {
    const std::vector<TraceLayer> trace = readTrace(words[i]);
    std::printf("\n%s; periods over ours: the barrier's in ready order, DeAR's, P3's, "
                "ByteScheduler's, TicTac's\n",
                words[i]);
    good &= table("by rings", "dear | p3 | bytescheduler | tictac", row, trace);
    good &= table("by all schemes", "by factors | cases", rowOfAllSchemes, trace);
  }
  std::printf(
      "\n| layers | gap | planning (ms) | limit (ms) | check (ms) |\n|---|---|---|---|---|\n");
  good &= timeSize(467, 0.05);
  good &= timeSize(10'000, 2);
  good &= timeSize(100'000, 20);
  return good ? 0 : 1;
}
