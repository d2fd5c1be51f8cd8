// Checks a solution, message by message.
#include "passes/problem/Interference.h"
#include "passes/proof/Rejections.h"

namespace syncline::proof {

namespace {

using Kind = RejectionKind;
using Verdict = std::optional<Rejection>;

class PlanCheck {
public:
  PlanCheck(const Problem &problem, const Solution &plan)
      : problem(problem), plan(plan), seen(problem.layers.size()),
        goesByFactors(problem.layers.size()), clock(problem) {}

  Verdict run() {
    double free = 0, compute = problem.computeFree;
    for (std::size_t i = 0; i < plan.messages.size(); ++i) {
      const Message &message = plan.messages[i];
      if (Verdict verdict = checkMembers(message, i + 1))
        return verdict;
      if (Verdict verdict =
              message.isFactors ? checkFactorOption(message, i + 1) : checkBucket(message, i + 1))
        return verdict;
      if (Verdict verdict = checkTimes(message, i + 1, free))
        return verdict;
      clock.add(message.start, message.end, lossOf(problem, message));
      if (const double reconstruct = reconstructOf(message); reconstruct > 0) {
        compute = std::max(compute, message.end - clock.lost()) + reconstruct;
        computed.push_back(compute);
      }
      free = message.end;
    }
    if (Verdict verdict = checkReconstruction())
      return verdict;
    compute = clock.at(compute);
    if (Verdict verdict = checkPiggybacks())
      return verdict;
    for (std::size_t k = 0; k < seen.size(); ++k)
      if (!seen[k])
        return reject(Kind::layerMissing, "layer ", k + 1, " is in no message");
    double finish = std::max(free, compute);
    if (isOther(plan.communicationEnd, free) || isOther(plan.computeEnd, compute) ||
        isOther(plan.finish, finish) || !isCheckedTime(plan.finish))
      return reject(Kind::wrongFinish, "expected channel, device and plan to end at ", free, ", ",
                    compute, " and ", finish, " s, got ", plan.communicationEnd, ", ",
                    plan.computeEnd, " and ", plan.finish, " s");
    return std::nullopt;
  }

private:
  Verdict checkMembers(const Message &message, std::size_t number) {
    if (message.layers.empty())
      return reject(Kind::emptyMessage, "message ", number, ": has no layers");
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < message.layers.size(); ++i) {
      std::size_t k = message.layers[i];
      if (k >= seen.size())
        return reject(Kind::layerUnknown, "message ", number, ": expected layers up to ",
                      seen.size(), ", got ", k + 1);
      if (i > 0 && k < message.layers[i - 1])
        return reject(Kind::outOfOrder, "message ", number, ": layer ", k + 1,
                      " stands after layer ", message.layers[i - 1] + 1);
      if (seen[k])
        return reject(Kind::layerTwice, "message ", number, ": layer ", k + 1,
                      " is in a message already");
      seen[k] = true;
      bytes += problem.layers[k].bytes;
    }
    if (bytes != message.bytes)
      return reject(Kind::wrongBytes, "message ", number, ": expected ", bytes, " B, got ",
                    message.bytes, " B");
    if (number > 1 && message.layers.back() < plan.messages[number - 2].layers.back())
      return reject(Kind::outOfOrder, "message ", number, ": its last layer, ",
                    message.layers.back() + 1, ", comes before message ", number - 1, "'s, ",
                    plan.messages[number - 2].layers.back() + 1);
    return std::nullopt;
  }

  Verdict checkFactorOption(const Message &message, std::size_t number) {
    std::size_t k = message.layers.front();
    if (message.layers.size() > 1 || message.option >= problem.layers[k].factorOptions.size())
      return reject(Kind::schemeNotAllowed, "message ", number, ": layer ", k + 1,
                    " may not travel alone that way");
    goesByFactors[k] = true;
    return std::nullopt;
  }

  Verdict checkBucket(const Message &message, std::size_t number) {
    std::size_t mergeClass = message.mergeClass;
    if (mergeClass >= problem.mergeClasses.size() ||
        message.option >= problem.mergeClasses[mergeClass].options.size())
      return reject(Kind::schemeNotAllowed, "message ", number,
                    ": expected a merge class and a scheme of the problem");
    for (std::size_t k : message.layers)
      if (!(problem.layers[k].mergeClasses >> mergeClass & 1))
        return reject(Kind::schemeNotAllowed, "message ", number, ": layer ", k + 1,
                      " may not travel in merge class ", mergeClass + 1);
    if (message.bytes > problem.mergeClasses[mergeClass].largestMessage)
      return reject(Kind::messageTooLarge, "message ", number, ": expected at most ",
                    problem.mergeClasses[mergeClass].largestMessage, " B, got ", message.bytes,
                    " B");
    held[mergeClass] += message.bytes;
    if (held[mergeClass] > problem.mergeClasses[mergeClass].capacity)
      return reject(Kind::capacityExceeded, "message ", number, ": expected at most ",
                    problem.mergeClasses[mergeClass].capacity, " B in merge class ", mergeClass + 1,
                    ", got ", held[mergeClass], " B");
    if (lastOfMergeClass[mergeClass] && *lastOfMergeClass[mergeClass] > message.layers.front())
      return reject(Kind::bucketsInterleave, "message ", number, ": layer ",
                    message.layers.front() + 1, " comes before layer ",
                    *lastOfMergeClass[mergeClass] + 1, " of the merge class's bucket before");
    lastOfMergeClass[mergeClass] = message.layers.back();
    return std::nullopt;
  }

  /// Seconds to reconstruct the message's gradient.
  double reconstructOf(const Message &message) const {
    const FactorOption *factors = factorOptionOf(problem, message);
    return factors ? factors->reconstruct : 0;
  }

  /// Later messages slow reconstruction too, so this follows when all of them are known.
  Verdict checkReconstruction() const {
    auto done = computed.begin();
    for (std::size_t i = 0; i < plan.messages.size(); ++i) {
      const Message &message = plan.messages[i];
      const double expected = reconstructOf(message) > 0 ? clock.at(*done++) : message.end;
      if (isOther(message.reconstructed, expected))
        return reject(Kind::wrongReconstruction, "message ", i + 1,
                      ": expected its gradients to exist at ", expected, " s, got ",
                      message.reconstructed, " s");
    }
    return std::nullopt;
  }

  Verdict checkTimes(const Message &message, std::size_t number, double free) const {
    for (double time : {message.ready, message.start, message.end, message.reconstructed})
      if (!isCheckedTime(time))
        return reject(Kind::notATime, "message ", number, ": expected a finite time >= 0, got ",
                      time);
    const double ready = clock.at(problem.layers[message.layers.back()].ready);
    if (isOther(message.ready, ready))
      return reject(Kind::wrongReady, "message ", number, ": expected ready at ", ready, " s, got ",
                    message.ready, " s");
    if (isBefore(message.start, ready))
      return reject(Kind::startsBeforeReady, "message ", number, ": starts at ", message.start,
                    " s, but is ready at ", ready, " s");
    if (isBefore(message.start, free))
      return reject(Kind::channelBusy, "message ", number, ": starts at ", message.start,
                    " s, but the channel is busy until ", free, " s");
    double seconds = secondsOf(problem, message);
    if (isOther(message.end, message.start + seconds))
      return reject(Kind::wrongDuration, "message ", number, ": expected its end at ",
                    message.start + seconds, " s, got ", message.end, " s");
    return std::nullopt;
  }

  Verdict checkPiggybacks() {
    for (std::size_t i = 0; i < plan.piggybacks.size(); ++i) {
      std::size_t k = plan.piggybacks[i];
      if (k >= seen.size())
        return reject(Kind::layerUnknown, "piggyback ", i + 1, ": expected layers up to ",
                      seen.size(), ", got ", k + 1);
      if (i > 0 && k < plan.piggybacks[i - 1])
        return reject(Kind::outOfOrder, "piggyback ", i + 1, ": layer ", k + 1,
                      " stands after layer ", plan.piggybacks[i - 1] + 1);
      if (seen[k])
        return reject(Kind::layerTwice, "piggyback ", i + 1, ": layer ", k + 1,
                      " is in a message already");
      seen[k] = true;
      std::optional<std::size_t> carrier = problem.layers[k].carrier;
      if (!carrier || !goesByFactors[*carrier])
        return reject(Kind::carrierNotByFactors, "piggyback ", i + 1, ": layer ", k + 1,
                      " has no carrier that travels alone");
    }
    return std::nullopt;
  }

  const Problem &problem;
  const Solution &plan;
  std::vector<bool> seen, goesByFactors;
  ComputationClock clock;
  std::vector<double> computed; ///< seconds of computation until each gradient is reconstructed
  std::array<std::int64_t, maxMergeClasses> held{};
  std::array<std::optional<std::size_t>, maxMergeClasses> lastOfMergeClass;
};

} // namespace

std::optional<Rejection> checkSolution(const Problem &problem, const Solution &plan) {
  return PlanCheck(problem, plan).run();
}

} // namespace syncline::proof
