// Merges buckets while the deadline leaves time.
#include "passes/solver/MergeMessages.h"

#include "passes/problem/Interference.h"
#include "passes/solver/Replay.h"

#include <algorithm>

namespace syncline::solver {

namespace {

class Merger {
public:
  Merger(const Problem &problem, Solution plan, double deadline)
      : problem(problem), plan(std::move(plan)), deadline(deadline * (1 + 1e-13)) {
    for (const Message &message : this->plan.messages)
      seconds.push_back(secondsOf(problem, message));
    setLatest();
  }

  Solution run() {
    std::vector<Message> &messages = plan.messages;
    for (std::size_t later = messages.size(); later-- > 0;) {
      if (messages[later].isFactors)
        continue;
      // Merges the nearest earlier bucket of the class, and repeats while that works.
      for (std::size_t earlier = later; earlier-- > 0;) {
        if (messages[earlier].isFactors ||
            messages[earlier].mergeClass != messages[later].mergeClass)
          continue;
        if (!mergeIfHarmless(earlier, later))
          break;
        --later;
      }
    }
    return replay(problem, choicesOf(problem, plan));
  }

private:
  /// Computes the latest end of each message for which all later messages stay in time.
  void setLatest() {
    latest.resize(plan.messages.size());
    double channel = deadline, device = deadline;
    for (std::size_t i = plan.messages.size(); i-- > 0;) {
      if (const FactorOption *factors = factorOptionOf(problem, plan.messages[i]);
          factors && factors->reconstruct > 0) {
        device -= factors->reconstruct;
        channel = std::min(channel, device);
      }
      latest[i] = channel;
      channel -= seconds[i];
    }
  }

  /// Whether message `later` ends in time when `earlier` becomes part of it. The messages between
  /// them start no later than before.
  bool endsInTime(std::size_t earlier, std::size_t later, std::int64_t bytes) const {
    const std::vector<Message> &messages = plan.messages;
    double free = earlier > 0 ? messages[earlier - 1].end : 0;
    for (std::size_t i = earlier + 1; i < later; ++i)
      free = std::max(free, messages[i].ready) + seconds[i];
    double end = std::max(free, messages[later].ready) +
                 problem.mergeClasses[messages[later].mergeClass].seconds(bytes);
    return end <= latest[later];
  }

  bool mergeIfHarmless(std::size_t earlier, std::size_t later) {
    std::vector<Message> &messages = plan.messages;
    std::int64_t bytes = messages[earlier].bytes + messages[later].bytes;
    if (bytes > problem.mergeClasses[messages[later].mergeClass].largestMessage ||
        !endsInTime(earlier, later, bytes))
      return false;
    std::vector<std::size_t> members;
    std::ranges::merge(messages[earlier].layers, messages[later].layers,
                       std::back_inserter(members));
    messages[later].layers = std::move(members);
    messages[later].bytes = bytes;
    messages[later].option = problem.mergeClasses[messages[later].mergeClass].bestOption(bytes);
    seconds[later] = secondsOf(problem, messages[later]);
    auto at = static_cast<std::ptrdiff_t>(earlier);
    messages.erase(messages.begin() + at);
    seconds.erase(seconds.begin() + at);
    double free = earlier > 0 ? messages[earlier - 1].end : 0;
    for (std::size_t i = earlier; i < messages.size(); ++i) {
      messages[i].start = std::max(free, messages[i].ready);
      free = messages[i].end = messages[i].start + seconds[i];
    }
    setLatest();
    return true;
  }

  const Problem &problem;
  Solution plan;
  double deadline;
  std::vector<double> seconds, latest;
};

} // namespace

Solution mergeMessages(const Problem &problem, Solution plan, double deadline) {
  if (plan.messages.empty())
    return plan;
  Solution merged = Merger(problem, plan, deadline).run();
  // The merger does not count on computation that messages slow.
  const bool isLate = slowsComputation(problem) && merged.finish > plan.finish * (1 + 1e-13);
  return isLate ? plan : merged;
}

} // namespace syncline::solver
