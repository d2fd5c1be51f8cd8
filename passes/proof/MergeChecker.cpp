// Checks certificates of merging alone, pair by pair.
#include "passes/proof/MergeChecker.h"

#include "passes/proof/Rejections.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace syncline::proof {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <typename... Parts> MergeRejection reject(MergeRejectionKind kind, const Parts &...parts) {
  return {kind, brokenRule('M', static_cast<int>(kind), parts...)};
}

/// Checks the bound's inequality for one j against all i < j.
class PairCheck {
public:
  PairCheck(const MergeProblem &problem, std::span<const double> finish)
      : problem(problem), finish(finish), prefix(problem.prefixBytes()),
        prefixBytes(prefix.begin(), prefix.end()) {}

  /// The least max(f(i), r_j) + T(i+1..j) over i < j. May stop at any value that is not below f(j).
  double minEnd(std::size_t j) const {
    double least = infinity;
    for (const SchemeOption &option : problem.options)
      least = std::min(least, option.cost->segments().empty() ? minByCalls(*option.cost, j)
                                                              : minByPieces(*option.cost, j));
    return least;
  }

  /// An i that attains minEnd(j), for the message.
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

  double minByCalls(const CollectiveCost &cost, std::size_t j) const {
    double least = infinity;
    for (std::size_t i = 0; i < j; ++i)
      least = std::min(least, std::max(finish[i], ready(j)) + cost.seconds(prefix[j] - prefix[i]));
    return least;
  }

  double minByPieces(const CollectiveCost &cost, std::size_t j) const {
    std::span<const CostSegment> segments = cost.segments();
    double least = infinity;
    std::size_t end = j; // starts from here on belong to earlier pieces
    for (std::size_t s = 0; s < segments.size() && end > 0; ++s) {
      double minTime = segments[s].base;
      std::size_t begin = 0;
      if (s + 1 < segments.size()) {
        std::int64_t nextByte = segments[s + 1].firstByte;
        minTime = std::min(minTime, cost.seconds(nextByte - 1));
        // Starts whose message is shorter than the next piece's first byte begin here.
        begin = static_cast<std::size_t>(
            std::upper_bound(prefix.begin(), prefix.begin() + static_cast<std::ptrdiff_t>(end),
                             prefix[j] - nextByte) -
            prefix.begin());
      }
      if (ready(j) + minTime < finish[j])
        least = std::min(least, minOnPiece(segments[s], j, begin, end));
      end = begin;
    }
    return least;
  }

  /// The inner loop of all verification. It has no branches, so that it uses vector registers.
  double minOnPiece(const CostSegment &segment, std::size_t j, std::size_t begin,
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
  std::vector<double> prefixBytes; ///< prefix as doubles, exact below 2^53
};

} // namespace

std::optional<MergeRejection> checkMergeBound(const MergeProblem &problem,
                                              const MergeCertificate &certificate) {
  std::span<const double> finish = certificate.earliestFinish;
  if (finish.size() != problem.layers.size() + 1)
    return reject(MergeRejectionKind::certificateLength, "expected ", problem.layers.size() + 1,
                  " entries, got ", finish.size());
  if (finish[0] != 0)
    return reject(MergeRejectionKind::certificateOrigin, "expected entry 0 to be 0 s, got ",
                  finish[0], " s");
  for (std::size_t j = 1; j < finish.size(); ++j)
    if (!isCheckedTime(finish[j]))
      return reject(MergeRejectionKind::certificateNumber, "entry ", j,
                    ": expected a finite time >= 0, got ", finish[j]);

  PairCheck pairs(problem, finish);
  for (std::size_t j = 1; j < finish.size(); ++j)
    if (double least = pairs.minEnd(j); isBefore(least, finish[j]))
      return reject(MergeRejectionKind::certificateTooLate, "entry ", j, ": expected at most ",
                    least, " s (a message of layers ", pairs.culprit(j, least) + 1, " to ", j,
                    "), got ", finish[j], " s");
  return std::nullopt;
}

} // namespace syncline::proof
