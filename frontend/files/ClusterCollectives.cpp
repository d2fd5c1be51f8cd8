// Costs by scheme: formulas, lines and tables.
#include "frontend/files/ClusterCollectives.h"

#include "frontend/files/ClusterInterference.h"
#include "frontend/files/FormatUnits.h"
#include "frontend/files/TextFile.h"
#include "frontend/files/Units.h"
#include "frontend/files/YamlQuantity.h"

#include <algorithm>
#include <array>

namespace syncline::files {
namespace {

/// The names of some schemes.
template <std::size_t count>
constexpr std::array<std::string_view, count> namesOf(const std::array<Scheme, count> &schemes) {
  std::array<std::string_view, count> names;
  std::ranges::transform(schemes, names.begin(), schemeName);
  return names;
}

constexpr auto allReduces = schemesWhere<isAllReduce>;
/// Those with a formula of alpha, beta and gamma; `summing` ones are below 'all-reduce'.
constexpr auto formulas = schemesWhere<hasFormula>;
constexpr auto summingFormulas =
    schemesWhere<[](Scheme scheme) { return isAllReduce(scheme) && hasFormula(scheme); }>;
constexpr auto formulaNames = namesOf(formulas);
constexpr auto summingNames = namesOf(summingFormulas);
constexpr std::array<std::string_view, 4> collectiveKeys = {"all-reduce", "reduce-scatter",
                                                            "parameter-server", "all-gather"};
constexpr std::array<std::string_view, 8> costKeys = {"formula", "alpha", "beta",  "gamma",
                                                      "a",       "b",     "table", "interference"};
/// costKeys, then the names of allReduces.
constexpr auto allReduceKeys = [] {
  std::array<std::string_view, costKeys.size() + allReduces.size()> keys;
  std::ranges::copy(namesOf(allReduces), std::ranges::copy(costKeys, keys.begin()).out);
  return keys;
}();

/// Alpha, beta and gamma of the network, unless keys beside 'formula' replace them.
Status readConstants(const YamlMap &map, const YamlValue &formula,
                     const std::optional<Link> &network, FormulaCost &cost) {
  if (network)
    cost = {cost.algorithm, network->latency, 1 / network->bandwidth, network->secondsPerReduce};
  else if (!map.find("alpha") || !map.find("beta"))
    return formula.error("expected a 'network', or 'alpha' and 'beta' here, got neither");
  SYNCLINE_TRY(readOptional(map, "alpha", "a time", parseSeconds, cost.alpha));
  SYNCLINE_TRY(readOptional(map, "beta", "a time per byte", parseSecondsPerByte, cost.beta));
  return readOptional(map, "gamma", "a time per byte", parseSecondsPerByte, cost.gamma);
}

Status readLine(const YamlMap &map, CollectiveTime &time) {
  AffineCost cost;
  SYNCLINE_TRY(readRequired(map, "a", "a time", parseSeconds, cost.a));
  SYNCLINE_TRY(readRequired(map, "b", "a time per byte", parseSecondsPerByte, cost.b));
  time = cost;
  return Status::ok();
}

Result<TableCost::Point> readPoint(const YamlValue &point, const TableCost &before) {
  SYNCLINE_TRY_GET(pair, point.list("a point such as [4KiB, 0.1ms]"));
  if (pair->size() != 2)
    return point.error("expected a size and a time, got " + std::to_string(pair->size()) +
                       " values");
  SYNCLINE_TRY_GET(bytes, quantity((*pair)[0], "a size", parseBytes));
  SYNCLINE_TRY_GET(seconds, quantity((*pair)[1], "a time", parseSeconds));
  if (!before.points.empty() && *bytes <= before.points.back().bytes)
    return (*pair)[0].error("expected sizes in ascending order, got " + std::to_string(*bytes) +
                            " B after " + std::to_string(before.points.back().bytes) + " B");
  // More bytes must not travel faster: the solver drops labels by that rule, and calibrate smooths
  // its measurements so.
  if (!before.points.empty() && *seconds < before.points.back().seconds)
    return (*pair)[1].error("expected no less than the " +
                            formatSeconds(before.points.back().seconds) + " of " +
                            std::to_string(before.points.back().bytes) + " B, got " +
                            formatSeconds(*seconds) + ": a table must not fall with size");
  return TableCost::Point{*bytes, *seconds};
}

Status readTable(const YamlValue &value, CollectiveTime &time) {
  SYNCLINE_TRY_GET(points, value.list("a list of points such as [4KiB, 0.1ms]"));
  if (points->empty())
    return value.error("expected at least one point, got an empty list");
  TableCost cost;
  for (const YamlValue &written : *points) {
    SYNCLINE_TRY_GET(point, readPoint(written, cost));
    cost.points.push_back(*point);
  }
  time = std::move(cost);
  return Status::ok();
}

class CollectivesReader {
public:
  explicit CollectivesReader(const std::optional<Link> &network) : network(network) {}

  Status read(const YamlMap &map) {
    if (const auto value = map.find("all-reduce"))
      SYNCLINE_TRY(readAllReduce(*value));
    for (const auto &[key, scheme] : {std::pair{"reduce-scatter", Scheme::reduceScatter},
                                      std::pair{"parameter-server", Scheme::parameterServer},
                                      std::pair{"all-gather", Scheme::factors}})
      if (const auto value = map.find(key))
        SYNCLINE_TRY(readScheme(*value, scheme));
    return Status::ok();
  }

  std::vector<StatedCost> stated;

private:
  /// Reads one cost (the ring's unless a formula names another scheme), or a map of schemes
  /// to costs.
  Status readAllReduce(const YamlValue &value) {
    SYNCLINE_TRY_GET(map, YamlMap::open(value, allReduceKeys));
    const std::string_view *one =
        std::find_if(costKeys.begin(), costKeys.end(), [&](auto key) { return map->find(key); });
    const Scheme *named = std::find_if(allReduces.begin(), allReduces.end(), [&](Scheme scheme) {
      return map->find(schemeName(scheme));
    });
    if (named == allReduces.end())
      return readCost(*map, std::nullopt);
    if (one != costKeys.end())
      return value.error("expected one cost, or a cost for each of some schemes, got both '" +
                         std::string(*one) + "' and '" + std::string(schemeName(*named)) + "'");
    for (Scheme scheme : allReduces)
      if (const auto cost = map->find(schemeName(scheme)))
        SYNCLINE_TRY(readScheme(*cost, scheme));
    return Status::ok();
  }

  Status readScheme(const YamlValue &value, Scheme scheme) {
    Result<YamlMap> map = YamlMap::open(value, costKeys);
    return map ? readCost(*map, scheme) : map.status();
  }

  /// One of 'formula', 'a' with 'b', 'table'; keys of another form beside it are refused. Without
  /// `scheme` it is the cost of an all-reduce whose formula may name any.
  Status readCost(const YamlMap &map, std::optional<Scheme> scheme) {
    const auto formula = map.find("formula"), table = map.find("table");
    const bool line = map.find("a") || map.find("b");
    const bool constants = map.find("alpha") || map.find("beta") || map.find("gamma");
    if (int(formula.has_value()) + int(table.has_value()) + int(line) != 1)
      return map.self().error("expected exactly one of 'formula', 'a' with 'b', or 'table'");
    if (constants && !formula)
      return map.self().error("expected 'alpha', 'beta' and 'gamma' only beside 'formula'");
    StatedCost cost{scheme.value_or(Scheme::ring), {}};
    Status s = formula ? readFormula(map, *formula, scheme, cost)
               : table ? readTable(*table, cost.time)
                       : readLine(map, cost.time);
    if (const auto value = map.find("interference"); value && s)
      s = readInterference(*value, cost);
    if (s)
      stated.push_back(std::move(cost));
    return s;
  }

  Status readFormula(const YamlMap &map, const YamlValue &value, std::optional<Scheme> scheme,
                     StatedCost &cost) {
    if (scheme && !hasFormula(*scheme))
      return value.error("expected 'a' with 'b', or 'table': no formula says what this costs");
    using Names = std::span<const std::string_view>;
    SYNCLINE_TRY_GET(
        index, readChoice(value, "formula", scheme ? Names(formulaNames) : Names(summingNames)));
    FormulaCost formula{scheme ? formulas[*index] : summingFormulas[*index], 0, 0, 0};
    if (scheme && formula.algorithm != *scheme)
      return value.error("expected the formula '" + std::string(schemeName(*scheme)) + "', got '" +
                         std::string(schemeName(formula.algorithm)) + "'");
    SYNCLINE_TRY(readConstants(map, value, network, formula));
    cost = {formula.algorithm, formula};
    return Status::ok();
  }

  const std::optional<Link> &network;
};

} // namespace

Result<std::vector<StatedCost>> readCollectives(const YamlValue &value,
                                                const std::optional<Link> &network) {
  SYNCLINE_TRY_GET(map, YamlMap::open(value, collectiveKeys));
  CollectivesReader reader(network);
  SYNCLINE_TRY(reader.read(*map));
  std::ranges::sort(reader.stated, {}, &StatedCost::scheme);
  return std::move(reader.stated);
}

} // namespace syncline::files
