// Scheme: the ways in which ranks agree on a gradient, and their names in files.
//
// Plans, cluster files and step.so spell a scheme as text. Each reader parses the text once and
// uses the enum from there on.
#pragma once

#include "syncline/Status.h"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace syncline {

/// Every way in which ranks can agree on a gradient.
enum class Scheme {
  ring,
  recursiveDoubling,
  halvingDoubling,
  tree,
  reduceScatter,   ///< reduce-scatter, update of the own shard, all-gather of the parameters
  hierarchical,    ///< all-reduce inside the nodes, between them, inside again
  parameterServer, ///< the servers sum gradients and send the sums back
  factors,         ///< sufficient factors are gathered; the gradient is reconstructed from them
};

namespace detail {

struct NamedScheme {
  Scheme scheme;
  std::string_view name;
};

/// In declaration order, so that a scheme's value is its place.
inline constexpr std::array<NamedScheme, 8> namedSchemes{{
    {Scheme::ring, "ring"},
    {Scheme::recursiveDoubling, "recursive-doubling"},
    {Scheme::halvingDoubling, "halving-doubling"},
    {Scheme::tree, "tree"},
    {Scheme::reduceScatter, "reduce-scatter"},
    {Scheme::hierarchical, "hierarchical"},
    {Scheme::parameterServer, "parameter-server"},
    {Scheme::factors, "factors"},
}};

inline constexpr auto schemes = [] {
  std::array<Scheme, namedSchemes.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = namedSchemes[i].scheme;
  return all;
}();

static_assert([] {
  for (std::size_t i = 0; i < schemes.size(); ++i)
    if (schemes[i] != static_cast<Scheme>(i))
      return false;
  return true;
}());

} // namespace detail

/// Every scheme, in declaration order.
constexpr std::span<const Scheme> allSchemes() { return detail::schemes; }

/// The scheme's name as plans and cluster files spell it: "ring", "recursive-doubling",
/// "halving-doubling", "tree", "reduce-scatter", "hierarchical", "parameter-server", "factors".
constexpr std::string_view schemeName(Scheme scheme) {
  return detail::namedSchemes[static_cast<std::size_t>(scheme)].name;
}

/// The inverse of schemeName; nothing when no scheme has that name.
constexpr std::optional<Scheme> parseScheme(std::string_view name) {
  for (const detail::NamedScheme &each : detail::namedSchemes)
    if (each.name == name)
      return each.scheme;
  return std::nullopt;
}

/// As parseScheme, or badInput: "unknown scheme 'rign', did you mean 'ring'?". The caller says in
/// which file the name stands. Part of SynclineRuntimeCore.
Result<Scheme> readScheme(std::string_view name);

} // namespace syncline
