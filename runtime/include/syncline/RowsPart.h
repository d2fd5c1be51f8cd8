// Names of gradients that travel in two parts, which the compiler and the runtime must agree on.
#pragma once

#include <string_view>

namespace syncline {

/// A table that an embedding and a product read (tied weights) has a gradient of two summands. They
/// may travel apart: the product's under the table's name, and the embedding's rows under that name
/// with this ending. The rows are added to the sum before the table's update (P35).
inline constexpr std::string_view rowsEnding = ":rows";

/// Whether the name of a bucket's member stands for the rows of a gradient.
constexpr bool isRowsPart(std::string_view member) { return member.ends_with(rowsEnding); }

/// The parameter that a member of a bucket is a gradient of, or a part of one.
constexpr std::string_view parameterOf(std::string_view member) {
  return isRowsPart(member) ? member.substr(0, member.size() - rowsEnding.size()) : member;
}

} // namespace syncline
