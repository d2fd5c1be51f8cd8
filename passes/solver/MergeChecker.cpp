// Checks plans layer by layer and certificates pair by pair.
#include "passes/solver/MergeChecker.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace syncline::solver {

namespace {

constexpr double tolerance = 1e-12;
constexpr double infinity = std::numeric_limits<double>::infinity();

bool isTime(double seconds) { return std::isfinite(seconds) && seconds >= 0; }

double slack(double a, double b) { return tolerance * std::max(std::abs(a), std::abs(b)); }

bool isBefore(double a, double b) { return a < b - slack(a, b); }

bool differ(double a, double b) { return isBefore(a, b) || isBefore(b, a); }

template <typename... Parts> Rejection reject(RejectionKind kind, const Parts &...parts) {
  std::ostringstream text;
  text.precision(17);
  text << 'M' << static_cast<int>(kind) << ": ";
  (text << ... << parts);
  return {kind, text.str()};
}

std::optional<Rejection> checkMembers(const MergeProblem &problem, const Group &group,
                                      std::size_t number, std::size_t expectedLayer) {
  if (group.layerCount == 0)
    return reject(RejectionKind::emptyGroup, "group ", number, ": has no layers");
  std::size_t layers = problem.layers.size();
  if (group.firstLayer >= layers || group.layerCount > layers - group.firstLayer)
    return reject(RejectionKind::layerUnknown, "group ", number, ": expected layers up to ", layers,
                  ", got ", group.layerCount, " from layer ", group.firstLayer + 1);
  if (group.firstLayer > expectedLayer)
    return reject(RejectionKind::layerMissing, "group ", number, ": starts at layer ",
                  group.firstLayer + 1, ", but layer ", expectedLayer + 1, " is in no group yet");
  if (group.firstLayer < expectedLayer)
    return reject(RejectionKind::layerTwice, "group ", number, ": layer ", group.firstLayer + 1,
                  " is in an earlier group already");
  if (group.option >= problem.options.size())
    return reject(RejectionKind::optionUnknown, "group ", number, ": expected a scheme below ",
                  problem.options.size(), ", got ", group.option);
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < group.layerCount; ++i)
    bytes += problem.layers[group.firstLayer + i].bytes;
  if (bytes != group.bytes)
    return reject(RejectionKind::wrongBytes, "group ", number, ": expected ", bytes, " B, got ",
                  group.bytes, " B");
  return std::nullopt;
}

std::optional<Rejection> checkTimes(const MergeProblem &problem, const Group &group,
                                    std::size_t number, double channelFree) {
  for (double time : {group.ready, group.start, group.end})
    if (!isTime(time))
      return reject(RejectionKind::notATime, "group ", number,
                    ": expected a finite time >= 0, got ", time);
  double ready = problem.layers[group.firstLayer + group.layerCount - 1].ready;
  if (differ(group.ready, ready))
    return reject(RejectionKind::wrongReady, "group ", number, ": expected ready at ", ready,
                  " s, got ", group.ready, " s");
  if (isBefore(group.start, ready))
    return reject(RejectionKind::startsBeforeReady, "group ", number, ": starts at ", group.start,
                  " s, but is ready at ", ready, " s");
  if (isBefore(group.start, channelFree))
    return reject(RejectionKind::channelBusy, "group ", number, ": starts at ", group.start,
                  " s, but the channel is busy until ", channelFree, " s");
  double end = group.start + problem.options[group.option].cost->seconds(group.bytes);
  if (differ(group.end, end))
    return reject(RejectionKind::wrongDuration, "group ", number, ": expected its end at ", end,
                  " s, got ", group.end, " s");
  return std::nullopt;
}

/// The bound's inequality for one j, against all i < j at a time.
class PairCheck {
public:
  PairCheck(const MergeProblem &problem, std::span<const double> finish)
      : problem(problem), finish(finish), prefix(problem.prefixBytes()),
        prefixBytes(prefix.begin(), prefix.end()) {}

  /// The least max(f(i), r_j) + T(i+1..j) over i < j; may stop at any value that is not below f(j).
  double leastEnd(std::size_t j) const {
    double least = infinity;
    for (const SchemeOption &option : problem.options)
      least = std::min(least, option.cost->segments().empty() ? leastByCalls(*option.cost, j)
                                                              : leastByPieces(*option.cost, j));
    return least;
  }

  /// An i that attains leastEnd(j), for the message.
  std::size_t culprit(std::size_t j, double least) const {
    std::size_t best = 0;
    double bestDistance = infinity;
    for (std::size_t i = 0; i < j; ++i) {
      double end = std::max(finish[i], ready(j)) + problem.seconds(prefix[j] - prefix[i]);
      if (double distance = std::abs(end - least); distance < bestDistance) {
        best = i;
        bestDistance = distance;
      }
    }
    return best;
  }

private:
  double ready(std::size_t j) const { return problem.layers[j - 1].ready; }

  double leastByCalls(const CollectiveCost &cost, std::size_t j) const {
    double least = infinity;
    for (std::size_t i = 0; i < j; ++i)
      least = std::min(least, std::max(finish[i], ready(j)) + cost.seconds(prefix[j] - prefix[i]));
    return least;
  }

  double leastByPieces(const CollectiveCost &cost, std::size_t j) const {
    std::span<const CostSegment> segments = cost.segments();
    double least = infinity;
    std::size_t end = j; // starts from here on fall on earlier pieces
    for (std::size_t s = 0; s < segments.size() && end > 0; ++s) {
      double leastTime = segments[s].base;
      std::size_t begin = 0;
      if (s + 1 < segments.size()) {
        std::int64_t nextByte = segments[s + 1].firstByte;
        leastTime = std::min(leastTime, cost.seconds(nextByte - 1));
        // Starts whose message is shorter than the next piece's first byte.
        begin = static_cast<std::size_t>(
            std::upper_bound(prefix.begin(), prefix.begin() + static_cast<std::ptrdiff_t>(end),
                             prefix[j] - nextByte) -
            prefix.begin());
      }
      if (ready(j) + leastTime < finish[j])
        least = std::min(least, leastOnPiece(segments[s], j, begin, end));
      end = begin;
    }
    return least;
  }

  /// The inner loop of all verification: no branches, so that it runs in vector registers.
  double leastOnPiece(const CostSegment &segment, std::size_t j, std::size_t begin,
                      std::size_t end) const {
    const double *f = finish.data();
    const double *bytesBefore = prefixBytes.data();
    double release = ready(j), base = segment.base, slope = segment.slope;
    double origin = prefixBytes[j] - static_cast<double>(segment.firstByte);
    double least = infinity;
#pragma omp simd reduction(min : least)
    for (std::size_t i = begin; i < end; ++i) {
      double start = f[i] > release ? f[i] : release;
      double time = start + (base + slope * (origin - bytesBefore[i]));
      least = time < least ? time : least;
    }
    return least;
  }

  const MergeProblem &problem;
  std::span<const double> finish;
  std::vector<std::int64_t> prefix;
  std::vector<double> prefixBytes; ///< the same as doubles, exact below 2^53
};

} // namespace

std::optional<Rejection> checkSolution(const MergeProblem &problem, const Solution &solution) {
  std::size_t layer = 0;
  double channelFree = 0;
  for (std::size_t i = 0; i < solution.groups.size(); ++i) {
    const Group &group = solution.groups[i];
    if (auto rejection = checkMembers(problem, group, i + 1, layer))
      return rejection;
    if (auto rejection = checkTimes(problem, group, i + 1, channelFree))
      return rejection;
    layer += group.layerCount;
    channelFree = group.end;
  }
  if (layer != problem.layers.size())
    return reject(RejectionKind::layerMissing, "layer ", layer + 1, " is in no group");
  if (!isTime(solution.finish) || differ(solution.finish, channelFree))
    return reject(RejectionKind::wrongFinish, "expected the finish at ", channelFree, " s, got ",
                  solution.finish, " s");
  return std::nullopt;
}

std::optional<Rejection> checkBound(const MergeProblem &problem, const Certificate &certificate) {
  std::span<const double> finish = certificate.earliestFinish;
  if (finish.size() != problem.layers.size() + 1)
    return reject(RejectionKind::certificateLength, "expected ", problem.layers.size() + 1,
                  " entries, got ", finish.size());
  if (finish[0] != 0)
    return reject(RejectionKind::certificateOrigin, "expected entry 0 to be 0 s, got ", finish[0],
                  " s");
  for (std::size_t j = 1; j < finish.size(); ++j)
    if (!isTime(finish[j]))
      return reject(RejectionKind::certificateNumber, "entry ", j,
                    ": expected a finite time >= 0, got ", finish[j]);

  PairCheck pairs(problem, finish);
  for (std::size_t j = 1; j < finish.size(); ++j)
    if (double least = pairs.leastEnd(j); isBefore(least, finish[j]))
      return reject(RejectionKind::certificateTooLate, "entry ", j, ": expected at most ", least,
                    " s (a message of layers ", pairs.culprit(j, least) + 1, " to ", j, "), got ",
                    finish[j], " s");
  return std::nullopt;
}

std::optional<Rejection> checkCertificate(const MergeProblem &problem,
                                          const Certificate &certificate, double finish) {
  if (auto rejection = checkBound(problem, certificate))
    return rejection;
  double bound = certificate.earliestFinish.back();
  if (!isTime(finish) || isBefore(bound, finish))
    return reject(RejectionKind::boundNotReached, "expected the plan to finish at ", bound,
                  " s, got ", finish, " s");
  if (isBefore(finish, bound))
    return reject(RejectionKind::boundUndercut, "expected the plan to finish at ", bound,
                  " s, got ", finish, " s");
  return std::nullopt;
}

} // namespace syncline::solver
