// Checks certificates of merging alone, one straight piece of the cost after the other. README.md,
// "How the judge finds it", has the argument.
#include "passes/proof/MergeChecker.h"

#include "passes/proof/Rejections.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <ranges>
#include <utility>

namespace syncline::proof {

namespace {

/// The claimed f, and the sums of bytes. Start i and entry j stand for the message i+1..j.
struct Claim {
  const MergeProblem &problem;
  std::span<const double> finish;
  std::vector<std::int64_t> prefix;

  double ready(std::size_t j) const { return problem.layers[j - 1].ready; }
  std::int64_t bytes(std::size_t i, std::size_t j) const { return prefix[j] - prefix[i]; }
};

/// A straight piece of a cost: messages of firstByte to endByte - 1 bytes.
struct Piece {
  CostSegment line;
  std::int64_t endByte = std::numeric_limits<std::int64_t>::max();

  double leastSeconds() const { return line.slope < 0 ? line.seconds(endByte - 1) : line.base; }
};

std::vector<Piece> piecesOf(const CollectiveCost &cost) {
  std::vector<Piece> pieces;
  for (const CostSegment &line : cost.segments()) {
    if (!pieces.empty())
      pieces.back().endByte = line.firstByte;
    pieces.push_back({line});
  }
  return pieces;
}

/// Finds the start with the least f(i) + T in any run of starts. Leaf i of a binary tree is start
/// i; every other node holds the better one of its two children.
class BestStarts {
public:
  BestStarts(const Claim &claim, double slope)
      : claim(claim), slope(slope), leaves(claim.prefix.size()), best(2 * leaves) {
    for (std::size_t i = 0; i < leaves; ++i)
      best[leaves + i] = i;
    for (std::size_t node = leaves; node-- > 1;)
      best[node] = better(best[2 * node], best[2 * node + 1]);
  }

  /// The best of the starts from begin to end - 1. Precondition: begin < end.
  std::size_t of(std::size_t begin, std::size_t end) const {
    std::size_t found = begin;
    for (begin += leaves, end += leaves; begin < end; begin /= 2, end /= 2) {
      if (begin % 2 == 1)
        found = better(found, best[begin++]);
      if (end % 2 == 1)
        found = better(found, best[--end]);
    }
    return found;
  }

private:
  /// Whichever has the smaller f(i) + T; on one piece that does not depend on j. The difference of
  /// the two T is computed from a difference of bytes, which is exact.
  std::size_t better(std::size_t a, std::size_t b) const {
    double moreBytes = static_cast<double>(claim.bytes(a, b));
    return claim.finish[a] + slope * moreBytes <= claim.finish[b] ? a : b;
  }

  const Claim &claim;
  double slope;
  std::size_t leaves;
  std::vector<std::size_t> best;
};

/// The starts i of [begin, end) with r_j + T < f(j). T is straight, so they are a run at one end.
std::pair<std::size_t, std::size_t> fastStarts(const Claim &claim, const Piece &piece,
                                               std::size_t j, std::size_t begin, std::size_t end) {
  auto isFast = [&](std::size_t i) {
    return isBefore(claim.ready(j) + piece.line.seconds(claim.bytes(i, j)), claim.finish[j]);
  };
  auto starts = std::views::iota(begin, end);
  if (piece.line.slope < 0)
    return {begin, *std::ranges::partition_point(starts, isFast)};
  return {*std::ranges::partition_point(starts, std::not_fn(isFast)), end};
}

/// The first entry below `limit` that is later than a message on this piece allows, else `limit`.
std::size_t firstTooLate(const Claim &claim, const Piece &piece, std::size_t limit) {
  BestStarts bestStarts(claim, piece.line.slope);
  double leastSeconds = piece.leastSeconds();
  std::size_t begin = 0, end = 0; // the starts whose message to j falls on the piece
  for (std::size_t j = 1; j < limit; ++j) {
    while (begin < j && claim.bytes(begin, j) >= piece.endByte)
      ++begin;
    while (end < j && claim.bytes(end, j) >= piece.line.firstByte)
      ++end;
    if (begin == end || !isBefore(claim.ready(j) + leastSeconds, claim.finish[j]))
      continue;
    auto [first, last] = fastStarts(claim, piece, j, begin, end);
    if (first == last)
      continue;
    std::size_t i = bestStarts.of(first, last);
    if (isBefore(claim.finish[i] + piece.line.seconds(claim.bytes(i, j)), claim.finish[j]))
      return j;
  }
  return limit;
}

MergeRejection tooLate(const Claim &claim, std::size_t j) {
  std::size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < j; ++i)
    if (double end =
            std::max(claim.finish[i], claim.ready(j)) + claim.problem.seconds(claim.bytes(i, j));
        end < least) {
      best = i;
      least = end;
    }
  return reject(MergeRejectionKind::certificateTooLate, "entry ", j, ": expected at most ", least,
                " s (a message of layers ", best + 1, " to ", j, "), got ", claim.finish[j], " s");
}

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

  Claim claim{problem, finish, problem.prefixBytes()};
  std::size_t first = finish.size();
  for (const SchemeOption &option : problem.options)
    for (const Piece &piece : piecesOf(*option.cost))
      first = firstTooLate(claim, piece, first);
  return first < finish.size() ? std::optional(tooLate(claim, first)) : std::nullopt;
}

} // namespace syncline::proof
