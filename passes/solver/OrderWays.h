// OrderWays: how the gradients of an order travel, changed one gradient at a time.
#pragma once

#include "passes/problem/OrderProblem.h"

#include <optional>
#include <span>
#include <vector>

namespace syncline::solver {

using namespace problem;

/// The ways where layer k travels by its fastest factor option and its piggybacks ride with it, if
/// it travelled in a bucket; else where it and its piggybacks travel in buckets. Nothing where the
/// layer, or a piggyback, has no such way without a capacity. Precondition: `choices` are allowed.
std::optional<std::vector<Choice>> flipped(const Problem &problem, std::span<const Choice> choices,
                                           std::size_t k);

/// The layers whose way can be flipped, the largest first.
std::vector<std::size_t> flippable(const Problem &problem);

/// Among those that can be flipped, the layer whose factors spare the channel most, compared with
/// its gradient in a bucket; nothing where none spares it anything. A bucket's latency is left out,
/// since others share it.
std::optional<std::size_t> mostSaving(const Problem &problem);

} // namespace syncline::solver
