// Compares costs, options and merge classes up to rounding.
#include "passes/check/SameCost.h"

#include <algorithm>

namespace syncline::check {

using namespace problem;

bool isSameCost(const CollectiveCost &a, const CollectiveCost &b) {
  if (const auto *line = dynamic_cast<const AffineCost *>(&a)) {
    const auto *other = dynamic_cast<const AffineCost *>(&b);
    return other && !differ(line->latency(), other->latency()) &&
           !differ(line->secondsPerByte(), other->secondsPerByte());
  }
  if (const auto *formula = dynamic_cast<const FormulaCost *>(&a)) {
    const auto *other = dynamic_cast<const FormulaCost *>(&b);
    if (!other || formula->scheme() != other->scheme() || formula->ranks() != other->ranks())
      return false;
    const LinkRates &mine = formula->rates(), &theirs = other->rates();
    return !differ(mine.latency, theirs.latency) &&
           !differ(mine.secondsPerByte, theirs.secondsPerByte) &&
           !differ(mine.reduceSecondsPerByte, theirs.reduceSecondsPerByte);
  }
  const auto *table = dynamic_cast<const TableCost *>(&a),
             *other = dynamic_cast<const TableCost *>(&b);
  return table && other &&
         std::ranges::equal(table->points(), other->points(), [](auto &mine, auto &theirs) {
           return mine.bytes == theirs.bytes && !differ(mine.seconds, theirs.seconds);
         });
}

/// Whether both take the same from computation: at every corner of either, since rounding may leave
/// out a point of a table.
static bool isSameLoss(const std::shared_ptr<const CollectiveCost> &a,
                       const std::shared_ptr<const CollectiveCost> &b) {
  if (!a || !b)
    return !a && !b;
  const auto isSameAt = [&](std::int64_t bytes) {
    return !differ(a->seconds(bytes), b->seconds(bytes));
  };
  for (const CollectiveCost *cost : {a.get(), b.get()})
    for (const CostSegment &piece : cost->segments())
      if (!isSameAt(piece.firstByte) || (piece.firstByte > 0 && !isSameAt(piece.firstByte - 1)))
        return false;
  constexpr std::int64_t farBehindCorners = std::int64_t{1} << 53;
  return isSameAt(farBehindCorners);
}

bool isSameOption(const SchemeOption &a, const SchemeOption &b) {
  return a.scheme == b.scheme && !differ(a.traffic, b.traffic) && isSameCost(*a.cost, *b.cost) &&
         isSameLoss(a.lost, b.lost) && std::ranges::equal(a.lostBy.of, b.lostBy.of, isSameLoss);
}

bool isSameMergeClass(const MergeClass &a, const MergeClass &b) {
  return a.largestMessage == b.largestMessage && a.capacity == b.capacity &&
         std::ranges::equal(a.options, b.options, isSameOption);
}

bool isSameFactorOption(const FactorOption &a, const FactorOption &b) {
  return a.scheme == b.scheme && a.factorBytes == b.factorBytes &&
         !differ(a.reconstruct, b.reconstruct);
}

} // namespace syncline::check
