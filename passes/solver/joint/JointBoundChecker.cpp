// Checks certificates of joint bounds: that every plan is in a listed state or provably late.
#include "passes/solver/MergeChecker.h"
#include "passes/solver/joint/JointRejections.h"

namespace syncline::solver {

namespace {

using Kind = JointRejectionKind;
using Verdict = std::optional<JointRejection>;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// What the judge knows of a lane.
struct LaneFacts {
  bool nondecreasing = true;
  std::size_t lastMember = 0; ///< one past the last layer that fits
};

class BoundCheck {
public:
  BoundCheck(const JointProblem &problem, const JointCertificate &certificate)
      : problem(problem), proof(certificate), pairs(problem), n(problem.layers.size()),
        lanes(problem.lanes.size()), limited(problem.limitedLane()) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      for (const SchemeOption &option : problem.lanes[lane].options)
        facts[lane].nondecreasing &= neverFalls(*option.cost);
      for (std::size_t k = 0; k < n; ++k)
        if (fits(k, lane))
          facts[lane].lastMember = k + 1;
    }
  }

  Verdict run() {
    if (!isCheckedTime(proof.bound))
      return rejectJointly(Kind::boundNotATime, "expected a finite bound >= 0, got ", proof.bound);
    if (proof.states.size() != n + 1)
      return rejectJointly(Kind::statesCount, "expected ", n + 1, " lists of states, got ",
                           proof.states.size());
    for (std::size_t i = 0; i < proof.relaxations.size(); ++i)
      if (Verdict verdict = checkRelaxation(i))
        return verdict;
    for (std::size_t k = 0; k <= n; ++k)
      for (std::size_t i = 0; i < proof.states[k].size(); ++i)
        if (!isState(proof.states[k][i]))
          return rejectJointly(Kind::notAState, "state ", i + 1, " after layer ", k,
                               ": expected finite times >= 0 and bytes >= 0");
    for (const Relaxation &relaxation : proof.relaxations)
      limits.push_back(limitsOf(relaxation));
    PlanState start;
    start.free = n > 0 ? problem.layers[0].ready : 0;
    start.compute = problem.computeFree;
    if (n == 0 && isBefore(start.compute, proof.bound))
      return rejectJointly(Kind::boundBeaten, "expected a bound of at most ", start.compute,
                           " s, got ", proof.bound, " s");
    if (n > 0 && !isCovered(start, 0))
      return rejectJointly(Kind::startNotCovered, "the state before layer 1 is not covered");
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t i = 0; i < proof.states[k].size(); ++i)
        if (Verdict verdict = checkSteps(proof.states[k][i], k, i))
          return verdict;
    return std::nullopt;
  }

private:
  static bool isState(const PlanState &state) {
    return isCheckedTime(state.free) && isCheckedTime(state.compute) && state.held >= 0 &&
           std::ranges::all_of(state.open,
                               [](std::int64_t bytes) { return bytes >= PlanState::closed; });
  }

  static bool neverFalls(const CollectiveCost &cost) {
    std::span<const CostSegment> pieces = cost.segments();
    if (pieces.empty())
      return false;
    double previous = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      double last = i + 1 < pieces.size() ? cost.seconds(pieces[i + 1].firstByte - 1) : infinity;
      if (pieces[i].base < previous || pieces[i].slope < 0 || last < pieces[i].base)
        return false;
      previous = last;
    }
    return true;
  }

  bool fits(std::size_t k, std::size_t lane) const {
    return (problem.layers[k].lanes & (1u << lane)) &&
           problem.layers[k].bytes <= problem.lanes[lane].largestMessage;
  }

  /// A line under a cost's corners is under the cost, as far as messages go.
  Verdict checkRelaxation(std::size_t index) const {
    const Relaxation &relaxation = proof.relaxations[index];
    if (!(relaxation.channelWeight >= 0 && relaxation.channelWeight <= 1))
      return rejectJointly(Kind::notARelaxation, "relaxation ", index + 1,
                           ": expected a weight within [0, 1], got ", relaxation.channelWeight);
    if (!isCheckedTime(relaxation.heldWeight))
      return rejectJointly(Kind::notARelaxation, "relaxation ", index + 1,
                           ": expected a finite weight of held bytes >= 0, got ",
                           relaxation.heldWeight);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const Relaxation::Line &line = relaxation.lines[lane];
      std::int64_t most = 0;
      for (std::size_t k = 0; k < n; ++k)
        most += fits(k, lane) ? problem.layers[k].bytes : 0;
      most = std::min(most, problem.lanes[lane].largestMessage);
      bool isUnder = isCheckedTime(line.latency) && isCheckedTime(line.secondsPerByte);
      for (const SchemeOption &option : problem.lanes[lane].options)
        isUnder = isUnder && liesUnder(line, *option.cost, most);
      if (!isUnder)
        return rejectJointly(Kind::notARelaxation, "relaxation ", index + 1, ": the line ",
                             line.latency, " s + ", line.secondsPerByte,
                             " s/B is not under every cost of lane ", lane + 1);
    }
    return std::nullopt;
  }

  static bool liesUnder(const Relaxation::Line &line, const CollectiveCost &cost,
                        std::int64_t most) {
    auto isUnderAt = [&](std::int64_t bytes) {
      return !isBefore(cost.seconds(bytes),
                       line.latency + line.secondsPerByte * static_cast<double>(bytes));
    };
    std::span<const CostSegment> pieces = cost.segments();
    if (pieces.empty())
      return line.latency == 0 && line.secondsPerByte == 0;
    for (std::size_t i = 0; i < pieces.size() && pieces[i].firstByte <= most; ++i) {
      std::int64_t last = i + 1 < pieces.size() ? pieces[i + 1].firstByte - 1 : most;
      if (!isUnderAt(pieces[i].firstByte) || !isUnderAt(std::min(last, most)))
        return false;
    }
    return true;
  }

  /// Solvers drop what cannot improve by 1e-12; rounding on the way to either side is far less.
  bool isTooLate(double reached, double limit) const {
    return reached >= limit - 4e-12 * proof.bound;
  }

  /// Where pairs never overlap, one bit of freedom says all about them, and limits depend on it.
  std::size_t freedoms() const { return pairs.most == 1 ? 2 : 1; }

  /// Per layer count, set of open lanes and freedom: at which weighted time a plan is late for the
  /// bound, whatever it does next. README.md, "The bound".
  std::vector<double> limitsOf(const Relaxation &relaxation) const {
    double w = relaxation.channelWeight;
    std::size_t width = freedoms() << lanes;
    std::vector<double> limit((n + 1) * width, -infinity);
    limit[n * width] = proof.bound;
    if (limited)
      limit[n * width] +=
          relaxation.heldWeight * static_cast<double>(problem.lanes[*limited].capacity);
    for (std::size_t k = n; k-- > 0;) {
      const JointLayer &layer = problem.layers[k];
      double next = k + 1 < n ? problem.layers[k + 1].ready : 0;
      for (std::size_t from = 0; from < width; ++from) {
        std::size_t set = from % (std::size_t{1} << lanes);
        auto through = [&](std::size_t to, double occupied, double rebuild, bool isSolo,
                           bool rides) {
          PlanState state;
          state.freedom = from >> lanes;
          if (freedoms() > 1 && !settlePairs(state, k, isSolo, rides))
            return -infinity;
          double after = limit[(k + 1) * width + (state.freedom << lanes) + to];
          double device = problem.computeFree + rebuild;
          if (rebuild > 0)
            device = std::max(device, layer.ready + occupied + rebuild);
          double reached = w * std::max(layer.ready + occupied, next) + (1 - w) * device;
          return isTooLate(reached, after) ? -infinity : after - w * occupied - (1 - w) * rebuild;
        };
        double most = layer.carrier ? through(set, 0, 0, false, true) : -infinity;
        for (const SoloOption &solo : layer.solos)
          most = std::max(most, through(set, solo.seconds, solo.rebuild, true, false));
        for (std::size_t lane = 0; lane < lanes; ++lane)
          if (fits(k, lane)) {
            const Relaxation::Line &line = relaxation.lines[lane];
            double body = line.secondsPerByte * static_cast<double>(layer.bytes);
            std::size_t bit = std::size_t{1} << lane;
            // Bytes in a bucket that stays open are owed, but do not occupy the channel yet.
            double price =
                limited == lane ? relaxation.heldWeight * static_cast<double>(layer.bytes) : 0;
            most = std::max(most, through(set | bit, 0, 0, false, false) - w * body - price);
            most =
                std::max(most, through(set & ~bit, line.latency + body, 0, false, false) - price);
          }
        limit[k * width + from] = most;
      }
    }
    return limit;
  }

  bool isLate(const PlanState &state, std::size_t k) const {
    if (isTooLate(state.compute, proof.bound))
      return true;
    std::size_t set = freedoms() > 1 ? (state.freedom & 1) << lanes : 0;
    for (std::size_t lane = 0; lane < lanes; ++lane)
      set |= std::size_t{state.open[lane] != PlanState::closed} << lane;
    for (std::size_t i = 0; i < limits.size(); ++i) {
      const Relaxation &relaxation = proof.relaxations[i];
      double owed = 0;
      for (std::size_t lane = 0; lane < lanes; ++lane)
        owed += relaxation.lines[lane].secondsPerByte *
                static_cast<double>(std::max<std::int64_t>(state.open[lane], 0));
      double w = relaxation.channelWeight;
      double reached = w * (state.free + owed) + (1 - w) * state.compute +
                       relaxation.heldWeight * static_cast<double>(state.held);
      if (isTooLate(reached, limits[i][k * (freedoms() << lanes) + set]))
        return true;
    }
    return false;
  }

  bool isNoWorse(const PlanState &a, const PlanState &b) const {
    bool good = a.free <= b.free * (1 + 1e-12) && a.compute <= b.compute * (1 + 1e-12) &&
                a.held <= b.held && (a.freedom | b.freedom) == a.freedom;
    for (std::size_t lane = 0; lane < lanes && good; ++lane)
      good =
          facts[lane].nondecreasing ? a.open[lane] <= b.open[lane] : a.open[lane] == b.open[lane];
    return good;
  }

  bool isCovered(const PlanState &state, std::size_t k) const {
    if (isLate(state, k))
      return true;
    return std::ranges::any_of(proof.states[k],
                               [&](const PlanState &listed) { return isNoWorse(listed, state); });
  }

  Verdict checkSteps(const PlanState &state, std::size_t k, std::size_t index) const {
    const JointLayer &layer = problem.layers[k];
    Verdict verdict;
    auto arrive = [&](PlanState after) {
      if (verdict)
        return;
      bool isComplete = k + 1 == n;
      for (std::size_t lane = 0; lane < lanes; ++lane)
        if (after.open[lane] != PlanState::closed && facts[lane].lastMember <= k + 1)
          return; // nobody is left to close the bucket
      if (!isComplete)
        after.free = std::max(after.free, problem.layers[k + 1].ready);
      double finish = std::max(after.free, after.compute);
      if (isComplete && isBefore(finish, proof.bound, 1e-11))
        verdict = rejectJointly(Kind::boundBeaten, "a plan through state ", index + 1,
                                " after layer ", k, " ends at ", finish, " s");
      else if (!isComplete && !isCovered(after, k + 1))
        verdict = rejectJointly(Kind::stepNotCovered, "layer ", k + 1, ": a step from state ",
                                index + 1, " leads to one that is not covered (channel free at ",
                                after.free, " s, device at ", after.compute, " s)");
    };

    for (const SoloOption &solo : layer.solos) {
      PlanState after = state;
      if (!settlePairs(after, k, true, false))
        continue;
      after.free = std::max(state.free, layer.ready) + solo.seconds;
      if (solo.rebuild > 0)
        after.compute = std::max(state.compute, after.free) + solo.rebuild;
      arrive(after);
    }
    if (PlanState after = state; layer.carrier && settlePairs(after, k, false, true))
      arrive(after);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      PlanState after = state;
      std::int64_t bytes = layer.bytes + std::max<std::int64_t>(0, state.open[lane]);
      if (!fits(k, lane) || bytes > problem.lanes[lane].largestMessage ||
          !settlePairs(after, k, false, false))
        continue;
      if (limited && *limited == lane) {
        after.held += layer.bytes;
        if (after.held > problem.lanes[lane].capacity)
          continue;
      }
      after.open[lane] = bytes;
      arrive(after);
      double least = infinity;
      for (const SchemeOption &option : problem.lanes[lane].options)
        least = std::min(least, option.cost->seconds(bytes));
      after.open[lane] = PlanState::closed;
      after.free = std::max(state.free, layer.ready) + least;
      arrive(after);
    }
    return verdict;
  }

  /// A rider rides only with a carrier that travels alone, whichever of the two comes first.
  bool settlePairs(PlanState &state, std::size_t k, bool isSolo, bool rides) const {
    for (const PairBits::Pair &pair : pairs.ofLayer[k]) {
      bool leavesFree = pair.carries ? isSolo : !rides;
      if (pair.opens && leavesFree)
        state.freedom |= pair.bit;
      if (!pair.opens) {
        if (!leavesFree && (state.freedom & pair.bit) == 0)
          return false;
        state.freedom &= ~pair.bit;
      }
    }
    return true;
  }

  const JointProblem &problem;
  const JointCertificate &proof;
  PairBits pairs;
  std::size_t n, lanes;
  std::optional<std::size_t> limited;
  std::array<LaneFacts, maxLanes> facts;
  std::vector<std::vector<double>> limits;
};

} // namespace

std::optional<JointRejection> checkJointBound(const JointProblem &problem,
                                              const JointCertificate &certificate) {
  return BoundCheck(problem, certificate).run();
}

static Verdict checkFinish(double bound, double finish, bool optimal) {
  if (!isCheckedTime(finish) || isBefore(finish, bound, 1e-11))
    return rejectJointly(Kind::boundUndercut, "expected the plan to finish at ", bound,
                         " s or later, got ", finish, " s");
  if (optimal && isBefore(bound, finish, 1e-11))
    return rejectJointly(Kind::boundNotReached, "expected the plan to finish at ", bound,
                         " s, got ", finish, " s");
  return std::nullopt;
}

std::optional<JointRejection> checkJointCertificate(const JointProblem &problem,
                                                    const JointCertificate &certificate,
                                                    double finish, bool optimal) {
  if (Verdict verdict = checkJointBound(problem, certificate))
    return verdict;
  return checkFinish(certificate.bound, finish, optimal);
}

template <typename Found> static std::optional<std::string> messageOf(const Found &rejection) {
  return rejection ? std::optional(rejection->message) : std::nullopt;
}

std::optional<std::string> checkProof(const JointProblem &problem, const BoundProof &proof) {
  if (const auto *joint = std::get_if<JointCertificate>(&proof))
    return messageOf(checkJointBound(problem, *joint));
  if (std::optional<MergeProblem> plain = plainProblem(problem))
    return messageOf(checkBound(*plain, std::get<Certificate>(proof)));
  return rejectJointly(Kind::notPlain, "expected relaxations and states, since the problem is more "
                                       "than merging, got finish times")
      .message;
}

std::optional<std::string> checkProof(const JointProblem &problem, const BoundProof &proof,
                                      double finish, bool optimal) {
  if (std::optional<std::string> wrong = checkProof(problem, proof))
    return wrong;
  return messageOf(checkFinish(boundOf(problem, proof), finish, optimal));
}

} // namespace syncline::solver
