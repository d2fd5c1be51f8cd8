// Checks certificates of the sync problem's bounds: no solution that the judge derives may end
// before the bound.
#include "passes/problem/Interference.h"
#include "passes/proof/BoundLimits.h"
#include "passes/proof/MergeChecker.h"
#include "passes/proof/Rejections.h"

#include <tuple>

namespace syncline::proof {

namespace {

using Kind = RejectionKind;
using Verdict = std::optional<Rejection>;

/// Facts about one merge class that the judge computes itself.
struct MergeClassFacts {
  bool nondecreasing = true;
  std::size_t lastMember = 0; ///< one past the last layer that fits
};

class BoundCheck {
public:
  BoundCheck(const Problem &problem, const Certificate &certificate)
      : problem(problem), proof(certificate), limits(problem, certificate),
        n(problem.layers.size()), mergeClasses(problem.mergeClasses.size()),
        limited(problem.limitedMergeClass()), slows(slowsComputation(problem)) {
    for (std::size_t mergeClass = 0; mergeClass < mergeClasses; ++mergeClass) {
      for (const SchemeOption &option : problem.mergeClasses[mergeClass].options)
        facts[mergeClass].nondecreasing &=
            neverFalls(*option.cost) && (!option.lost || neverFalls(*option.lost));
      for (std::size_t k = 0; k < n; ++k)
        if (problem.allows(k, mergeClass))
          facts[mergeClass].lastMember = k + 1;
    }
  }

  Verdict run() {
    if (!isCheckedTime(proof.bound))
      return reject(Kind::boundNotATime, "expected a finite bound >= 0, got ", proof.bound);
    if (Verdict verdict = limits.prepare())
      return verdict;
    PlanState start;
    start.free = n > 0 ? problem.layers[0].ready : 0;
    start.compute = problem.computeFree;
    if (n == 0 && isBefore(start.compute, proof.bound))
      return reject(Kind::boundBeaten, "expected a bound of at most ", start.compute, " s, got ",
                    proof.bound, " s");
    if (n == 0 || limits.isLate(start, 0))
      return std::nullopt;
    return derive(start);
  }

private:
  static bool neverFalls(const CollectiveCost &cost) {
    std::span<const CostSegment> pieces = cost.segments();
    double previous = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      double last = i + 1 < pieces.size() ? cost.seconds(pieces[i + 1].firstByte - 1) : infinity;
      if (pieces[i].base < previous || pieces[i].slope < 0 || last < pieces[i].base)
        return false;
      previous = last;
    }
    return true;
  }

  bool isNoWorse(const PlanState &a, const PlanState &b) const {
    constexpr double tolerance = 1e-14;
    const auto noLater = [](double x, double y) { return x <= y * (1 + tolerance); };
    bool good = noLater(a.free, b.free) && noLater(a.compute, b.compute) &&
                noLater(a.lost, b.lost) && a.held <= b.held && (a.freedom | b.freedom) == a.freedom;
    for (std::size_t mergeClass = 0; mergeClass < mergeClasses && good; ++mergeClass)
      good = facts[mergeClass].nondecreasing ? a.open[mergeClass] <= b.open[mergeClass]
                                             : a.open[mergeClass] == b.open[mergeClass];
    return good;
  }

  /// Follows every solution that is not late, layer by layer, and drops states that another state
  /// is no worse than.
  Verdict derive(const PlanState &start) const {
    std::vector<PlanState> states{start}, next;
    for (std::size_t k = 0; k < n; ++k) {
      next.clear();
      double earliest = infinity;
      for (const PlanState &state : states)
        forEachStep(state, k, [&](const PlanState &after) {
          if (k + 1 == n)
            earliest = std::min(earliest, std::max(after.free, after.compute));
          else if (!limits.isLate(after, k + 1))
            next.push_back(after);
        });
      if (isBefore(earliest, proof.bound, proofRounding))
        return reject(Kind::boundBeaten, "expected no plan to end before ", proof.bound,
                      " s, got one that ends at ", earliest, " s");
      dropWorse(next);
      if (next.size() > maxDerived)
        return reject(Kind::tooManyStates, "layer ", k + 1, ": expected at most ", maxDerived,
                      " states that the relaxations leave open, got ", next.size());
      std::swap(states, next);
    }
    return std::nullopt;
  }

  /// Sorts states by time and drops each that one of the last few kept states is no worse than.
  void dropWorse(std::vector<PlanState> &states) const {
    std::ranges::sort(states, {}, [](const PlanState &s) {
      return std::tuple(s.free, s.compute, s.open, s.held, s.freedom, s.lost);
    });
    constexpr std::size_t compared = 200;
    std::size_t kept = 0;
    for (const PlanState &state : states) {
      std::size_t first = kept > compared ? kept - compared : 0;
      bool isWorse = false;
      for (std::size_t j = kept; j > first && !isWorse; --j)
        isWorse = isNoWorse(states[j - 1], state);
      if (!isWorse)
        states[kept++] = state;
    }
    states.resize(kept);
  }

  /// Calls visit(state after layer k) for every choice of layer k, but for choices that leave a
  /// bucket open that no later layer can close.
  template <typename Visit>
  void forEachStep(const PlanState &state, std::size_t k, const Visit &visit) const {
    const Layer &layer = problem.layers[k];
    // While a message is under way, computation falls behind by `lost`.
    const auto send = [&](PlanState &after, double seconds, double lost) {
      after.free = std::max(state.free, layer.ready + state.lost) + seconds;
      after.compute = state.compute + lost;
      after.lost = state.lost + lost;
    };
    auto arrive = [&](PlanState after) {
      for (std::size_t mergeClass = 0; mergeClass < mergeClasses; ++mergeClass)
        if (after.open[mergeClass] != PlanState::closed && facts[mergeClass].lastMember <= k + 1)
          return;
      if (k + 1 < n)
        after.free = std::max(after.free, problem.layers[k + 1].ready + after.lost);
      visit(after);
    };

    for (const FactorOption &factorOption : layer.factorOptions) {
      PlanState after = state;
      if (!limits.settlePairs(after, k, true, false))
        continue;
      send(after, factorOption.seconds, factorOption.lost);
      if (factorOption.reconstruct > 0)
        after.compute = std::max(after.compute, after.free) + factorOption.reconstruct;
      arrive(after);
    }
    if (PlanState after = state; layer.carrier && limits.settlePairs(after, k, false, true))
      arrive(after);
    for (std::size_t mergeClass = 0; mergeClass < mergeClasses; ++mergeClass) {
      PlanState after = state;
      std::int64_t bytes = layer.bytes + std::max<std::int64_t>(0, state.open[mergeClass]);
      if (!problem.allows(k, mergeClass) ||
          bytes > problem.mergeClasses[mergeClass].largestMessage ||
          !limits.settlePairs(after, k, false, false))
        continue;
      if (limited && *limited == mergeClass) {
        after.held += layer.bytes;
        if (after.held > problem.mergeClasses[mergeClass].capacity)
          continue;
      }
      after.open[mergeClass] = bytes;
      arrive(after);
      after.open[mergeClass] = PlanState::closed;
      double least = infinity;
      for (const SchemeOption &option : problem.mergeClasses[mergeClass].options) {
        const double seconds = option.cost->seconds(bytes);
        least = std::min(least, seconds);
        if (!slows)
          continue;
        send(after, seconds, option.lostSeconds(bytes));
        arrive(after);
      }
      if (slows)
        continue;
      send(after, least, 0);
      arrive(after);
    }
  }

  /// The maximum number of states after a layer; a check with more would take longer than planning.
  static constexpr std::size_t maxDerived = 10'000;

  const Problem &problem;
  const Certificate &proof;
  BoundLimits limits;
  std::size_t n, mergeClasses;
  std::optional<std::size_t> limited;
  bool slows; ///< whether messages slow computation
  std::array<MergeClassFacts, maxMergeClasses> facts;
};

} // namespace

std::optional<Rejection> checkBound(const Problem &problem, const Certificate &certificate) {
  return BoundCheck(problem, certificate).run();
}

static Verdict checkFinish(double bound, double finish, bool optimal) {
  if (!isCheckedTime(finish) || isBefore(finish, bound, proofRounding))
    return reject(Kind::boundUndercut, "expected the plan to finish at ", bound,
                  " s or later, got ", finish, " s");
  if (optimal && isBefore(bound, finish, proofRounding))
    return reject(Kind::boundNotReached, "expected the plan to finish at ", bound, " s, got ",
                  finish, " s");
  return std::nullopt;
}

template <typename Found> static std::optional<std::string> messageOf(const Found &rejection) {
  return rejection ? std::optional(rejection->message) : std::nullopt;
}

std::optional<std::string> checkProof(const Problem &problem, const BoundProof &proof,
                                      double finish, bool optimal) {
  if (tellsClasses(problem))
    return checkProof(withLeastLosses(problem), proof, finish, optimal);
  std::optional<std::string> wrong;
  if (const auto *joint = std::get_if<Certificate>(&proof))
    wrong = messageOf(checkBound(problem, *joint));
  else if (std::optional<MergeProblem> plain = plainProblem(problem))
    wrong = messageOf(checkMergeBound(*plain, std::get<MergeCertificate>(proof)));
  else
    wrong = reject(Kind::notPlain, "expected relaxations, since the problem is more than merging, "
                                   "got finish times")
                .message;
  return wrong ? wrong : messageOf(checkFinish(boundOf(problem, proof), finish, optimal));
}

} // namespace syncline::proof
