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
  sparse,          ///< an embedding's rows and their numbers are gathered, and added up
  library,         ///< all-reduce by the algorithm that NCCL chooses, such as NVLS
};

// Values count up from 0. A scheme without a case is an error in the functions that follow, so that
// each has a name.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"

/// The scheme's name as plans and cluster files spell it; empty for a value that is no scheme.
constexpr std::string_view schemeName(Scheme scheme) {
  switch (scheme) {
  case Scheme::ring:
    return "ring";
  case Scheme::recursiveDoubling:
    return "recursive-doubling";
  case Scheme::halvingDoubling:
    return "halving-doubling";
  case Scheme::tree:
    return "tree";
  case Scheme::reduceScatter:
    return "reduce-scatter";
  case Scheme::hierarchical:
    return "hierarchical";
  case Scheme::parameterServer:
    return "parameter-server";
  case Scheme::factors:
    return "factors";
  case Scheme::sparse:
    return "sparse";
  case Scheme::library:
    return "library";
  }
  return {};
}

/// Whether latency and bandwidth of a link give the scheme's time: the four flat
/// all-reduces and reduce-scatter.
constexpr bool hasFormula(Scheme scheme) {
  switch (scheme) {
  case Scheme::ring:
  case Scheme::recursiveDoubling:
  case Scheme::halvingDoubling:
  case Scheme::tree:
  case Scheme::reduceScatter:
    return true;
  case Scheme::hierarchical:
  case Scheme::library:
  case Scheme::parameterServer:
  case Scheme::factors:
  case Scheme::sparse:
    return false;
  }
  return false;
}

/// Whether ranks gather what a gradient is computed from, and each computes the sum itself.
constexpr bool isGathered(Scheme scheme) {
  return scheme == Scheme::factors || scheme == Scheme::sparse;
}

#pragma GCC diagnostic pop

namespace detail {

inline constexpr std::size_t schemeCount = [] {
  std::size_t count = 0;
  while (!schemeName(static_cast<Scheme>(count)).empty())
    ++count;
  return count;
}();

inline constexpr auto schemes = [] {
  std::array<Scheme, schemeCount> all{};
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<Scheme>(i);
  return all;
}();

} // namespace detail

/// Every scheme, in declaration order.
constexpr std::span<const Scheme> allSchemes() { return detail::schemes; }

/// The inverse of schemeName; nothing when no scheme has that name.
constexpr std::optional<Scheme> parseScheme(std::string_view name) {
  for (Scheme each : allSchemes())
    if (schemeName(each) == name)
      return each;
  return std::nullopt;
}

/// As parseScheme, or badInput: "unknown scheme 'rign', did you mean 'ring'?". The caller says in
/// which file the name stands. Part of SynclineRuntimeCore.
Result<Scheme> readScheme(std::string_view name);

} // namespace syncline
