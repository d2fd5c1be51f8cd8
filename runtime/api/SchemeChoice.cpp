// Costs of all-reduces by the formulas of the compiler, which know no MLIR.
#include "runtime/api/SchemeChoice.h"

#include "passes/problem/CollectiveCost.h"
#include "runtime/run/plan/PlanJson.h"

#include <algorithm>
#include <set>

namespace syncline::api {

using problem::SchemeOption;
using run::get;
using run::Json;
using run::member;
using Cost = std::shared_ptr<const problem::CollectiveCost>;

struct SchemeCosts {
  std::vector<SchemeOption> options;
};

namespace {

constexpr auto carried =
    schemesWhere<[](Scheme scheme) { return isAllReduce(scheme) && isCarried(scheme, false); }>;

Scheme scheme(const Json &name) {
  const Result<Scheme> read = readScheme(name.get<std::string>());
  if (!read)
    throw run::SchemaError{read.status().message()};
  return *read;
}

/// Formulas multiply these numbers with bytes and ranks, which must stay finite.
double rate(const Json &object, const char *key) {
  constexpr double most = 1e9;
  const double read = run::prediction(object, key);
  if (read > most)
    throw run::SchemaError{"'" + std::string(key) + "': expected at most 1e9 s, got " +
                           member(object, key).dump()};
  return read;
}

problem::LinkRates rates(const Json &link) {
  return {rate(link, "alpha"), rate(link, "beta"), rate(link, "gamma")};
}

problem::CostPoint costPoint(const Json &point) {
  const auto bytes = point.at(0).get<double>();
  if (!(bytes >= 0 && bytes <= 0x1p53))
    throw run::SchemaError{"'points': expected bytes from 0 to 2^53, got " + point.at(0).dump()};
  return {static_cast<std::int64_t>(bytes), point.at(1).get<double>()};
}

Cost table(const Json &cost) {
  std::vector<problem::CostPoint> points;
  for (const Json &point : member(cost, "points"))
    points.push_back(costPoint(point));
  Result<problem::TableCost> made = problem::TableCost::create(points);
  if (!made)
    throw run::SchemaError{made.status().message()};
  return std::make_shared<problem::TableCost>(std::move(*made));
}

Cost stated(const Json &cost) {
  const auto kind = get<std::string>(cost, "kind");
  if (kind == "line")
    return std::make_shared<problem::AffineCost>(rate(cost, "a"), rate(cost, "b"));
  if (kind == "table")
    return table(cost);
  if (kind != "formula")
    throw run::SchemaError{"unknown kind of cost '" + kind + "'"};
  const Scheme by = scheme(member(cost, "algorithm"));
  if (!hasFormula(by))
    throw run::SchemaError{"scheme '" + std::string(schemeName(by)) + "' has no formula"};
  return problem::formulaCost(by, run::count(cost, "ranks", 1), rates(cost));
}

/// The greatest latency, and so on, of all links of nodes to the network. Nothing without a link.
std::optional<problem::LinkRates> slowestLink(const Json &cluster) {
  std::vector<Json> links{member(cluster, "link")};
  for (const Json &other : member(cluster, "overrides"))
    links.push_back(member(other, "link"));
  std::optional<problem::LinkRates> slowest;
  for (const Json &link : links) {
    if (link.is_null())
      continue;
    const problem::LinkRates one = rates(link), before = slowest.value_or(problem::LinkRates());
    slowest = {std::max(one.latency, before.latency),
               std::max(one.secondsPerByte, before.secondsPerByte),
               std::max(one.reduceSecondsPerByte, before.reduceSecondsPerByte)};
  }
  return slowest;
}

/// The ranks of a node that send at the same time share its cards.
std::vector<SchemeOption> byFormula(const Json &cluster, int ranks) {
  std::vector<SchemeOption> options;
  const std::optional<problem::LinkRates> link = slowestLink(cluster);
  if (!link)
    return options;
  const int devices = run::count(cluster, "devices_per_node", 1);
  for (const Scheme by : carried) {
    if (!hasFormula(by))
      continue;
    problem::LinkRates own = *link;
    own.secondsPerByte *= (get<bool>(cluster, "half_duplex") ? 2 : 1) *
                          problem::formulaSharers(by, ranks, devices) /
                          run::count(cluster, "cards_per_node", 1);
    if (const Json &inside = member(cluster, "inside"); !inside.is_null() && devices > 1)
      own.secondsPerByte = std::max(own.secondsPerByte, rate(inside, "beta"));
    options.push_back({by, problem::formulaCost(by, ranks, own)});
  }
  return options;
}

std::vector<SchemeOption> allReduces(const Json &cluster, int ranks) {
  std::vector<SchemeOption> options;
  for (const Json &one : member(cluster, "collectives"))
    if (const Scheme by = scheme(member(one, "scheme")); std::ranges::count(carried, by) > 0)
      options.push_back({by, stated(member(one, "cost"))});
  if (options.empty())
    options = byFormula(cluster, ranks);
  if (options.empty())
    options.push_back({Scheme::ring, std::make_shared<problem::AffineCost>(0, 0)});
  return options;
}

/// Those that are fastest for some size: a power of two, or where a piece of a cost begins.
std::vector<SchemeOption> fastest(const std::vector<SchemeOption> &options) {
  std::set<std::int64_t> sizes{0};
  for (int power = 0; power <= 46; ++power)
    sizes.insert(std::int64_t{1} << power);
  for (const SchemeOption &option : options)
    for (const problem::CostSegment &piece : option.cost->segments())
      sizes.insert(piece.firstByte);
  std::set<std::size_t> used;
  for (const std::int64_t bytes : sizes)
    used.insert(problem::fastestOption(options, bytes));
  std::vector<SchemeOption> kept;
  for (const std::size_t i : used)
    kept.push_back(options[i]);
  return kept;
}

} // namespace

Result<SchemeChoice> SchemeChoice::create(const Json &cluster, int ranks) {
  SchemeChoice choice;
  try {
    choice.costs =
        std::make_shared<const SchemeCosts>(SchemeCosts{fastest(allReduces(cluster, ranks))});
  } catch (const run::SchemaError &e) {
    return Status::badInput("'cluster': " + e.message);
  } catch (const Json::exception &e) {
    return Status::badInput(std::string("'cluster': ") + e.what());
  }
  return choice;
}

SchemeChoice::Chosen SchemeChoice::of(std::int64_t bytes) const {
  const SchemeOption &option = costs->options[problem::fastestOption(costs->options, bytes)];
  return {option.scheme, option.cost->seconds(bytes)};
}

std::vector<Scheme> SchemeChoice::schemes() const {
  std::vector<Scheme> all;
  for (const SchemeOption &option : costs->options)
    all.push_back(option.scheme);
  return all;
}

} // namespace syncline::api
