// Where on an axis the scaling efficiency passes a threshold.
#pragma once

#include "frontend/sweep/SweepAxis.h"

#include <functional>
#include <optional>
#include <span>

namespace syncline::sweep {

struct BreakEven {
  enum class Kind {
    never,      ///< no point is above the threshold
    everywhere, ///< every point is
    from,       ///< `at` and all larger points are
    upTo,       ///< `at` and all smaller points are
    notMonotone ///< points above it lie on both sides of points that are not, or the other way
  };
  Kind kind = Kind::never;
  double threshold = 0;
  double at = 0;    ///< for from and upTo: the outermost value that is known to be above
  double share = 0; ///< never: the most efficiency of a point; everywhere: the least
  double best = 0;  ///< the value of that point
};

/// A value of the axis, and the efficiency there.
struct KnownShare {
  double value = 0, share = 0;
};

/// Finds out where the efficiency is above `threshold`. Between two known points that differ it
/// bisects by `shareAt`, to half a percent of a continuous value and to the unit of a whole one
/// (ranks beyond a node: a node); it stops where `shareAt` knows no efficiency. What comes and goes
/// between two points is not seen. Nothing for an axis of names, without points, or where an
/// efficiency is unknown (0). Precondition: values ascend and are above zero.
std::optional<BreakEven> findBreakEven(const SweepAxis &axis, int devicesPerNode, double threshold,
                                       std::span<const KnownShare> points,
                                       const std::function<std::optional<double>(double)> &shareAt);

} // namespace syncline::sweep
