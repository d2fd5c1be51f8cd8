// Bisection between a plan that Z3 found and a deadline that it proved impossible.
#include "passes/z3/BestPlan.h"

#include "passes/problem/Rounding.h"

#include <algorithm>
#include <chrono>

namespace syncline::z3judge {

namespace {

/// Where plan and impossible deadline are this close, the next question is about the plan itself:
/// another plan so close to the best one is improbable.
constexpr double close = 0.01;

/// The questions about one problem; they share the time.
class Search {
public:
  Search(const Problem &problem, std::size_t maxMessages, double seconds, const Clock &clock)
      : problem(problem), maxMessages(maxMessages), seconds(seconds), clock(clock) {}

  Result<Answer> run(const Known &known) {
    Result<Answer> best =
        known.plan ? Answer{Verdict::possible, *known.plan, {}} : ask(std::nullopt);
    if (!best || best->verdict != Verdict::possible)
      return best;
    SYNCLINE_TRY_GET(finish, clock(best->choices));
    double impossible = known.bound;
    while (impossible < justBefore(*finish)) {
      const double deadline = nextDeadline(impossible, *finish);
      Result<Answer> answer = ask(deadline);
      if (!answer || answer->verdict == Verdict::noAnswer)
        return answer;
      if (answer->verdict == Verdict::impossible) {
        impossible = deadline;
        continue;
      }
      SYNCLINE_TRY_GET(earlier, clock(answer->choices));
      if (*earlier >= *finish)
        return Status::error(ErrorKind::internal, "Z3's plan finishes later than it says");
      best = std::move(answer);
      finish = earlier;
    }
    return best;
  }

private:
  Result<Answer> ask(std::optional<double> deadline) const {
    if (problem.layers.size() > maxAskedLayers)
      return Status::badInput("Z3 takes at most " + std::to_string(maxAskedLayers) +
                              " gradients, got " + std::to_string(problem.layers.size()));
    return findPlan(problem, {deadline, maxMessages}, left());
  }

  static double justBefore(double finish) { return finish * (1 - sumRounding); }

  static double nextDeadline(double impossible, double finish) {
    if (impossible > finish * (1 - close))
      return justBefore(finish);
    return std::min(justBefore(finish), (impossible + finish) / 2);
  }

  double left() const {
    return seconds -
           std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  const Problem &problem;
  const std::size_t maxMessages;
  const double seconds;
  const Clock &clock;
  const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

} // namespace

Result<Answer> findBestPlan(const Problem &problem, std::size_t maxMessages, const Known &known,
                            double seconds, const Clock &clock) {
  return Search(problem, maxMessages, seconds, clock).run(known);
}

} // namespace syncline::z3judge
