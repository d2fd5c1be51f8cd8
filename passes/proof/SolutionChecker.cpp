// Checks joint plans, message by message.
#include "passes/proof/Rejections.h"

namespace syncline::solver {

namespace {

using Kind = JointRejectionKind;
using Verdict = std::optional<JointRejection>;

class PlanCheck {
public:
  PlanCheck(const JointProblem &problem, const JointPlan &plan)
      : problem(problem), plan(plan), seen(problem.layers.size()), solo(problem.layers.size()) {}

  Verdict run() {
    double free = 0, compute = problem.computeFree;
    for (std::size_t i = 0; i < plan.messages.size(); ++i) {
      const JointMessage &message = plan.messages[i];
      if (Verdict verdict = checkMembers(message, i + 1))
        return verdict;
      if (Verdict verdict =
              message.isSolo ? checkSolo(message, i + 1) : checkBucket(message, i + 1))
        return verdict;
      if (Verdict verdict = checkTimes(message, i + 1, free, compute))
        return verdict;
      free = message.end;
    }
    if (Verdict verdict = checkRiders())
      return verdict;
    for (std::size_t k = 0; k < seen.size(); ++k)
      if (!seen[k])
        return rejectJointly(Kind::layerMissing, "layer ", k + 1, " is in no message");
    double finish = std::max(free, compute);
    if (isOther(plan.communicationEnd, free) || isOther(plan.computeEnd, compute) ||
        isOther(plan.finish, finish) || !isCheckedTime(plan.finish))
      return rejectJointly(Kind::wrongFinish, "expected channel, device and plan to end at ", free,
                           ", ", compute, " and ", finish, " s, got ", plan.communicationEnd, ", ",
                           plan.computeEnd, " and ", plan.finish, " s");
    return std::nullopt;
  }

private:
  Verdict checkMembers(const JointMessage &message, std::size_t number) {
    if (message.layers.empty())
      return rejectJointly(Kind::emptyMessage, "message ", number, ": has no layers");
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < message.layers.size(); ++i) {
      std::size_t k = message.layers[i];
      if (k >= seen.size())
        return rejectJointly(Kind::layerUnknown, "message ", number, ": expected layers up to ",
                             seen.size(), ", got ", k + 1);
      if (i > 0 && k < message.layers[i - 1])
        return rejectJointly(Kind::outOfOrder, "message ", number, ": layer ", k + 1,
                             " stands after layer ", message.layers[i - 1] + 1);
      if (seen[k])
        return rejectJointly(Kind::layerTwice, "message ", number, ": layer ", k + 1,
                             " is in a message already");
      seen[k] = true;
      bytes += problem.layers[k].bytes;
    }
    if (bytes != message.bytes)
      return rejectJointly(Kind::wrongBytes, "message ", number, ": expected ", bytes, " B, got ",
                           message.bytes, " B");
    if (number > 1 && message.layers.back() < plan.messages[number - 2].layers.back())
      return rejectJointly(Kind::outOfOrder, "message ", number, ": its last layer, ",
                           message.layers.back() + 1, ", comes before message ", number - 1, "'s, ",
                           plan.messages[number - 2].layers.back() + 1);
    return std::nullopt;
  }

  Verdict checkSolo(const JointMessage &message, std::size_t number) {
    std::size_t k = message.layers.front();
    if (message.layers.size() > 1 || message.option >= problem.layers[k].solos.size())
      return rejectJointly(Kind::schemeNotAllowed, "message ", number, ": layer ", k + 1,
                           " may not travel alone that way");
    solo[k] = true;
    return std::nullopt;
  }

  Verdict checkBucket(const JointMessage &message, std::size_t number) {
    std::size_t lane = message.lane;
    if (lane >= problem.lanes.size() || message.option >= problem.lanes[lane].options.size())
      return rejectJointly(Kind::schemeNotAllowed, "message ", number,
                           ": expected a lane and a scheme of the problem");
    for (std::size_t k : message.layers)
      if (!(problem.layers[k].lanes >> lane & 1))
        return rejectJointly(Kind::schemeNotAllowed, "message ", number, ": layer ", k + 1,
                             " may not travel in lane ", lane + 1);
    if (message.bytes > problem.lanes[lane].largestMessage)
      return rejectJointly(Kind::messageTooLarge, "message ", number, ": expected at most ",
                           problem.lanes[lane].largestMessage, " B, got ", message.bytes, " B");
    held[lane] += message.bytes;
    if (held[lane] > problem.lanes[lane].capacity)
      return rejectJointly(Kind::capacityExceeded, "message ", number, ": expected at most ",
                           problem.lanes[lane].capacity, " B in lane ", lane + 1, ", got ",
                           held[lane], " B");
    if (lastOfLane[lane] && *lastOfLane[lane] > message.layers.front())
      return rejectJointly(Kind::bucketsInterleave, "message ", number, ": layer ",
                           message.layers.front() + 1, " comes before layer ",
                           *lastOfLane[lane] + 1, " of the lane's bucket before");
    lastOfLane[lane] = message.layers.back();
    return std::nullopt;
  }

  Verdict checkTimes(const JointMessage &message, std::size_t number, double free,
                     double &compute) const {
    for (double time : {message.ready, message.start, message.end, message.rebuilt})
      if (!isCheckedTime(time))
        return rejectJointly(Kind::notATime, "message ", number,
                             ": expected a finite time >= 0, got ", time);
    const JointLayer &last = problem.layers[message.layers.back()];
    if (isOther(message.ready, last.ready))
      return rejectJointly(Kind::wrongReady, "message ", number, ": expected ready at ", last.ready,
                           " s, got ", message.ready, " s");
    if (isBefore(message.start, last.ready))
      return rejectJointly(Kind::startsBeforeReady, "message ", number, ": starts at ",
                           message.start, " s, but is ready at ", last.ready, " s");
    if (isBefore(message.start, free))
      return rejectJointly(Kind::channelBusy, "message ", number, ": starts at ", message.start,
                           " s, but the channel is busy until ", free, " s");
    double seconds =
        message.isSolo
            ? last.solos[message.option].seconds
            : problem.lanes[message.lane].options[message.option].cost->seconds(message.bytes);
    if (isOther(message.end, message.start + seconds))
      return rejectJointly(Kind::wrongDuration, "message ", number, ": expected its end at ",
                           message.start + seconds, " s, got ", message.end, " s");
    double rebuild = message.isSolo ? last.solos[message.option].rebuild : 0;
    double rebuilt = rebuild > 0 ? std::max(compute, message.end) + rebuild : message.end;
    if (isOther(message.rebuilt, rebuilt))
      return rejectJointly(Kind::wrongRebuild, "message ", number,
                           ": expected its gradients to exist at ", rebuilt, " s, got ",
                           message.rebuilt, " s");
    if (rebuild > 0)
      compute = message.rebuilt;
    return std::nullopt;
  }

  Verdict checkRiders() {
    for (std::size_t i = 0; i < plan.riders.size(); ++i) {
      std::size_t k = plan.riders[i];
      if (k >= seen.size())
        return rejectJointly(Kind::layerUnknown, "rider ", i + 1, ": expected layers up to ",
                             seen.size(), ", got ", k + 1);
      if (i > 0 && k < plan.riders[i - 1])
        return rejectJointly(Kind::outOfOrder, "rider ", i + 1, ": layer ", k + 1,
                             " stands after layer ", plan.riders[i - 1] + 1);
      if (seen[k])
        return rejectJointly(Kind::layerTwice, "rider ", i + 1, ": layer ", k + 1,
                             " is in a message already");
      seen[k] = true;
      std::optional<std::size_t> carrier = problem.layers[k].carrier;
      if (!carrier || !solo[*carrier])
        return rejectJointly(Kind::carrierNotSolo, "rider ", i + 1, ": layer ", k + 1,
                             " has no carrier that travels alone");
    }
    return std::nullopt;
  }

  const JointProblem &problem;
  const JointPlan &plan;
  std::vector<bool> seen, solo;
  std::array<std::int64_t, maxLanes> held{};
  std::array<std::optional<std::size_t>, maxLanes> lastOfLane;
};

} // namespace

std::optional<JointRejection> checkJointPlan(const JointProblem &problem, const JointPlan &plan) {
  return PlanCheck(problem, plan).run();
}

} // namespace syncline::solver
