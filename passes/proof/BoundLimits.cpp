// Checks relaxations and computes their limits from the problem alone.
#include "passes/proof/BoundLimits.h"

#include "passes/problem/Interference.h"
#include "passes/proof/Rejections.h"

namespace syncline::proof {

using Kind = RejectionKind;
using Verdict = std::optional<Rejection>;

/// Whether a line is under so many seconds by bytes at the corners of the cost, up to `most` bytes.
template <typename Seconds>
static bool liesUnder(const Relaxation::Line &line, Seconds seconds, const CollectiveCost &cost,
                      std::int64_t most) {
  auto isUnderAt = [&](std::int64_t bytes) {
    return !isBefore(seconds(bytes),
                     line.latency + line.secondsPerByte * static_cast<double>(bytes));
  };
  std::span<const CostSegment> pieces = cost.segments();
  for (std::size_t i = 0; i < pieces.size() && pieces[i].firstByte <= most; ++i) {
    std::int64_t last = i + 1 < pieces.size() ? pieces[i + 1].firstByte - 1 : most;
    if (!isUnderAt(pieces[i].firstByte) || !isUnderAt(std::min(last, most)))
      return false;
  }
  return true;
}

bool liesUnder(const Relaxation::Line &line, const CollectiveCost &cost, std::int64_t most) {
  return liesUnder(line, [&](std::int64_t bytes) { return cost.seconds(bytes); }, cost, most);
}

bool liesUnder(const Relaxation::Line &line, double weight, const SchemeOption &option,
               std::int64_t most) {
  const auto worth = [&](std::int64_t bytes) {
    const double lost = option.lostSeconds(bytes);
    return weight * (option.cost->seconds(bytes) - lost) + lost;
  };
  return liesUnder(line, worth, *option.cost, most) &&
         (!option.lost || liesUnder(line, worth, *option.lost, most));
}

BoundLimits::BoundLimits(const Problem &problem, const Certificate &certificate)
    : problem(problem), proof(certificate), pairs(problem), n(problem.layers.size()),
      mergeClasses(problem.mergeClasses.size()), limited(problem.limitedMergeClass()),
      slows(slowsComputation(problem)) {}

Verdict BoundLimits::prepare() {
  for (std::size_t i = 0; i < proof.relaxations.size(); ++i)
    if (Verdict verdict = checkRelaxation(i))
      return verdict;
  for (const Relaxation &relaxation : proof.relaxations)
    limits.push_back(limitsOf(relaxation));
  return std::nullopt;
}

/// Checks each line at the corners of its costs, up to the largest message: a line that is under a
/// cost's corners is under the cost.
Verdict BoundLimits::checkRelaxation(std::size_t index) const {
  const Relaxation &relaxation = proof.relaxations[index];
  if (!(relaxation.channelWeight >= 0 && relaxation.channelWeight <= 1))
    return reject(Kind::notARelaxation, "relaxation ", index + 1,
                  ": expected a weight within [0, 1], got ", relaxation.channelWeight);
  if (!isCheckedTime(relaxation.heldWeight))
    return reject(Kind::notARelaxation, "relaxation ", index + 1,
                  ": expected a finite weight of held bytes >= 0, got ", relaxation.heldWeight);
  for (std::size_t mergeClass = 0; mergeClass < mergeClasses; ++mergeClass) {
    const Relaxation::Line &line = relaxation.lines[mergeClass];
    std::int64_t most = 0;
    for (std::size_t k = 0; k < n; ++k)
      most += problem.allows(k, mergeClass) ? problem.layers[k].bytes : 0;
    most = std::min(most, problem.mergeClasses[mergeClass].largestMessage);
    bool isUnder = isCheckedTime(line.latency) && isCheckedTime(line.secondsPerByte);
    for (const SchemeOption &option : problem.mergeClasses[mergeClass].options)
      isUnder = isUnder && (slows ? liesUnder(line, relaxation.channelWeight, option, most)
                                  : liesUnder(line, *option.cost, most));
    if (!isUnder)
      return reject(Kind::notARelaxation, "relaxation ", index + 1, ": the line ", line.latency,
                    " s + ", line.secondsPerByte, " s/B is not under every cost of merge class ",
                    mergeClass + 1);
  }
  return std::nullopt;
}

/// Allows 4e-12 of the bound: solvers drop what cannot improve by 1e-12, and rounding on either
/// side is far less.
bool BoundLimits::isTooLate(double reached, double limit) const {
  return reached >= limit - 4e-12 * proof.bound;
}

/// Where pairs never overlap, one bit of freedom describes them, and limits depend on that bit.
std::size_t BoundLimits::freedoms() const { return pairs.most == 1 ? 2 : 1; }

/// The limit for each number of layers, set of open merge classes and freedom: a partial solution
/// whose weighted time reaches it finishes no earlier than the bound (README.md, "The bound").
std::vector<double> BoundLimits::limitsOf(const Relaxation &relaxation) const {
  double w = relaxation.channelWeight;
  std::size_t width = freedoms() << mergeClasses;
  std::vector<double> limit((n + 1) * width, -infinity);
  limit[n * width] = proof.bound;
  if (limited)
    limit[n * width] +=
        relaxation.heldWeight * static_cast<double>(problem.mergeClasses[*limited].capacity);
  for (std::size_t k = n; k-- > 0;) {
    const Layer &layer = problem.layers[k];
    double next = k + 1 < n ? problem.layers[k + 1].ready : 0;
    for (std::size_t from = 0; from < width; ++from) {
      std::size_t set = from % (std::size_t{1} << mergeClasses);
      // All three are seconds. A message takes the channel for `occupied`. Where messages slow
      // computation, a line only bounds what a bucket adds to v (README.md), which is `worth`.
      // `owed` counts in v, but delays no message yet: bytes of an open bucket, or computation that
      // the message takes.
      auto through = [&](std::size_t to, double occupied, double reconstruct, bool isFactors,
                         bool isPiggyback, double worth = 0, double owed = 0) {
        PlanState state;
        state.freedom = from >> mergeClasses;
        if (freedoms() > 1 && !settlePairs(state, k, isFactors, isPiggyback))
          return -infinity;
        double after = limit[(k + 1) * width + (state.freedom << mergeClasses) + to];
        double device = problem.computeFree + reconstruct;
        if (reconstruct > 0)
          device = std::max(device, layer.ready + occupied + reconstruct);
        double reached =
            std::max(w * std::max(layer.ready + occupied, next), w * layer.ready + worth) +
            (1 - w) * device + owed;
        return isTooLate(reached, after)
                   ? -infinity
                   : after - w * occupied - (1 - w) * reconstruct - worth - owed;
      };
      double most = layer.carrier ? through(set, 0, 0, false, true) : -infinity;
      for (const FactorOption &factorOption : layer.factorOptions)
        most = std::max(most, through(set, factorOption.seconds - factorOption.lost,
                                      factorOption.reconstruct, true, false, 0, factorOption.lost));
      for (std::size_t mergeClass = 0; mergeClass < mergeClasses; ++mergeClass)
        if (problem.allows(k, mergeClass)) {
          const Relaxation::Line &line = relaxation.lines[mergeClass];
          double body = line.secondsPerByte * static_cast<double>(layer.bytes);
          std::size_t bit = std::size_t{1} << mergeClass;
          // The bytes of an open bucket count in `body`, but do not occupy the channel yet.
          double price =
              limited == mergeClass ? relaxation.heldWeight * static_cast<double>(layer.bytes) : 0;
          const double whole = line.latency + body;
          most = std::max(most, slows ? through(set | bit, 0, 0, false, false, 0, body) - price
                                      : through(set | bit, 0, 0, false, false) - w * body - price);
          most = std::max(
              most,
              through(set & ~bit, slows ? 0 : whole, 0, false, false, slows ? whole : 0) - price);
        }
      limit[k * width + from] = most;
    }
  }
  return limit;
}

bool BoundLimits::isLate(const PlanState &state, std::size_t k) const {
  if (isTooLate(state.compute, proof.bound))
    return true;
  std::size_t set = freedoms() > 1 ? (state.freedom & 1) << mergeClasses : 0;
  for (std::size_t mergeClass = 0; mergeClass < mergeClasses; ++mergeClass)
    set |= std::size_t{state.open[mergeClass] != PlanState::closed} << mergeClass;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    const Relaxation &relaxation = proof.relaxations[i];
    double owed = 0;
    for (std::size_t mergeClass = 0; mergeClass < mergeClasses; ++mergeClass)
      owed += relaxation.lines[mergeClass].secondsPerByte *
              static_cast<double>(std::max<std::int64_t>(state.open[mergeClass], 0));
    double w = relaxation.channelWeight;
    double reached = (slows ? w * state.free + owed : w * (state.free + owed)) +
                     (1 - w) * state.compute +
                     relaxation.heldWeight * static_cast<double>(state.held);
    if (isTooLate(reached, limits[i][k * (freedoms() << mergeClasses) + set]))
      return true;
  }
  return false;
}

bool BoundLimits::settlePairs(PlanState &state, std::size_t k, bool isFactors,
                              bool isPiggyback) const {
  for (const PairBits::Pair &pair : pairs.ofLayer[k]) {
    bool leavesFree = pair.carries ? isFactors : !isPiggyback;
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

} // namespace syncline::proof
