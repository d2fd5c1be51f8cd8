// Scheme: the ways in which ranks agree on a gradient, and their names in files.
//
// Plans, cluster files and step.so spell a scheme as text. Each reader parses the text once and
// uses the enum from there on. Schemes.inc has a row for each scheme; the functions here read it.
#pragma once

#include "syncline/Status.h"

#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace syncline {

/// What ranks do with a gradient that travels by a scheme.
enum class SchemeKind {
  allReduce, ///< ranks sum it, and each gets the sum
  servers,   ///< parameter servers sum it and send the sum to each rank
  sharded,   ///< reduce-scatter, update of the own shard, all-gather of the parameters
  gathered,  ///< ranks gather what it is computed from, and each computes the sum itself
};

/// Every way in which ranks can agree on a gradient: the rows of Schemes.inc.
enum class Scheme {
#define SCHEME(enumerator, name, kind, ncclName, properties) enumerator,
#include "syncline/Schemes.inc"
};

namespace detail {

/// What else a scheme is, as a set of bits.
enum SchemeProperty : unsigned {
  noProperty = 0,
  ownTransport = 1,
  formula = 2,
  halves = 4,
  rows = 8,
};

struct SchemeRow {
  std::string_view name;
  SchemeKind kind;
  std::string_view ncclName;
  unsigned properties;
};

inline constexpr SchemeRow schemeTable[] = {
#define SCHEME(enumerator, name, kind, ncclName, properties)                                       \
  {name, SchemeKind::kind, ncclName, properties},
#include "syncline/Schemes.inc"
};

constexpr const SchemeRow &rowOf(Scheme scheme) {
  return schemeTable[static_cast<std::size_t>(scheme)];
}

constexpr bool has(Scheme scheme, SchemeProperty property) {
  return (rowOf(scheme).properties & property) != 0;
}

inline constexpr auto schemes = [] {
  std::array<Scheme, std::size(schemeTable)> all{};
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<Scheme>(i);
  return all;
}();

} // namespace detail

/// Every scheme, in declaration order.
constexpr std::span<const Scheme> allSchemes() { return detail::schemes; }

/// The scheme's name as plans and cluster files spell it.
constexpr std::string_view schemeName(Scheme scheme) { return detail::rowOf(scheme).name; }

constexpr SchemeKind schemeKind(Scheme scheme) { return detail::rowOf(scheme).kind; }

/// Whether the ranks themselves sum gradients and each gets the sum; without servers or factors.
constexpr bool isAllReduce(Scheme scheme) { return schemeKind(scheme) == SchemeKind::allReduce; }

/// Whether every rank gets the sum of the message: by an all-reduce or by servers.
constexpr bool isSum(Scheme scheme) {
  return isAllReduce(scheme) || schemeKind(scheme) == SchemeKind::servers;
}

/// Whether ranks gather what a gradient is computed from, and each computes the sum itself.
constexpr bool isGathered(Scheme scheme) { return schemeKind(scheme) == SchemeKind::gathered; }

/// Whether latency and bandwidth of a link give the scheme's time.
constexpr bool hasFormula(Scheme scheme) { return detail::has(scheme, detail::formula); }

/// Whether a bucket by the scheme may travel as two messages: a reduce-scatter of the gradients
/// and, later, an all-gather, of the parameters by "reduce-scatter" and of the sums by an
/// all-reduce. A tree has halves too (reduce and broadcast); only exchanges of weights use them.
constexpr bool hasHalves(Scheme scheme) { return detail::has(scheme, detail::halves); }

/// Whether ranks gather rows and their numbers. They travel as they are, whatever the wire, and
/// plans say how many a rank has.
constexpr bool hasRows(Scheme scheme) { return detail::has(scheme, detail::rows); }

/// Whether messages can travel by the scheme: where NCCL carries them, by what it has (Ring, Tree,
/// what it chooses itself, or sends and receives); elsewhere by Syncline's own transport.
constexpr bool isCarried(Scheme scheme, bool byNccl) {
  return byNccl ? !detail::rowOf(scheme).ncclName.empty()
                : detail::has(scheme, detail::ownTransport);
}

/// What NCCL's tuner calls the algorithm: "ring", "tree", "any" for the one that NCCL chooses,
/// "sendrecv" for sends and receives. Empty where NCCL does not have the scheme.
constexpr std::string_view ncclName(Scheme scheme) { return detail::rowOf(scheme).ncclName; }

/// The scheme whose cost cluster files state and calibration measures for this one: every gathered
/// message costs the all-gather of "factors"; another scheme has a cost of its own.
constexpr Scheme pricedAs(Scheme scheme) { return isGathered(scheme) ? Scheme::factors : scheme; }

/// The schemes for which `keep(scheme)` holds, in declaration order, as an array.
template <auto keep>
inline constexpr auto schemesWhere = [] {
  constexpr auto count = [] {
    std::size_t found = 0;
    for (Scheme scheme : allSchemes())
      found += keep(scheme);
    return found;
  };
  std::array<Scheme, count()> kept{};
  std::size_t next = 0;
  for (Scheme scheme : allSchemes())
    if (keep(scheme))
      kept[next++] = scheme;
  return kept;
}();

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

/// The schemes that NCCL has or, without `byNccl`, Syncline's transport: sums, then
/// "reduce-scatter", then what is gathered. Part of SynclineRuntimeCore, as is the next.
std::vector<Scheme> carriedSchemes(bool byNccl);

/// The schemes' names with commas, and `last` before the last one: "ring, tree or library".
std::string listOf(std::span<const Scheme> schemes, std::string_view last = " or ");

} // namespace syncline
