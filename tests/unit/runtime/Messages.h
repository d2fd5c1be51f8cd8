// Random messages of every type, and gather-and-sum: the slow reference of all collectives.
#pragma once

#include "syncline/Step.h"

#include <cstddef>
#include <string>
#include <vector>

namespace syncline::testing {

/// A message as raw bytes of one element type.
using Message = std::vector<std::byte>;

/// Rank `rank`'s message number `salt`: in [-1, 1) for floating-point types, else below 2^20.
Message randomMessage(ElementType type, std::size_t count, int rank, int salt);

/// Obviously right: the messages number `salt` of all ranks, element by element, in double.
std::vector<double> gatherAndSum(ElementType type, std::size_t count, int ranks, int salt);

/// Empty, or where the message differs from the wanted values by more than rounding of `ranks`
/// terms allows.
std::string difference(ElementType type, const Message &message, const std::vector<double> &wanted,
                       int ranks);

/// The types that have a sum.
inline constexpr ElementType summable[] = {ElementType::f32,  ElementType::f64, ElementType::f16,
                                           ElementType::bf16, ElementType::i64, ElementType::i32};

} // namespace syncline::testing
