// Reading plan.json's consistency.
#include "runtime/run/plan/PlanConsistency.h"

#include "runtime/run/plan/PlanJson.h"

#include <array>
#include <sstream>

namespace syncline::run {

namespace {

/// Reads one of `names`, from the first-th on.
template <typename Enum, std::size_t n>
Enum oneOf(const std::array<std::string_view, n> &names, std::size_t first, const Json &object,
           const char *key) {
  const auto text = get<std::string>(object, key);
  std::string expected;
  for (std::size_t i = first; i < n; ++i) {
    if (names[i] == text)
      return static_cast<Enum>(i);
    expected += (i == first ? "" : i + 1 == n ? " or " : ", ") + std::string(names[i]);
  }
  throw SchemaError{"'" + std::string(key) + "': expected " + expected + ", got '" + text + "'"};
}

bool mayTravel(Scheme scheme, const PlanConsistency &c) {
  if (isServed(c.form, c.variant))
    return scheme == Scheme::parameterServer;
  return isAllReduce(scheme);
}

PlanExchange exchangeFrom(const Json &object, const PlanConsistency &of, std::int64_t weights) {
  PlanExchange e;
  e.id = count(object, "id", 0);
  const Result<Scheme> scheme = readScheme(get<std::string>(object, "scheme"));
  if (!scheme)
    throw SchemaError{"exchange " + std::to_string(e.id) + ": " + scheme.status().message()};
  e.scheme = *scheme;
  e.offset = size(object, "offset", 0);
  e.extent = size(object, "extent", 4);
  e.start = size(object, "start", 0);
  e.wait = member(object, "wait").is_null() ? PlanExchange::mostSteps : size(object, "wait", 0);
  const PlanExchange *before = of.exchanges.empty() ? nullptr : &of.exchanges.back();
  const bool isBehind =
      !before || (e.offset >= before->offset + before->extent && e.start > before->wait);
  if (e.id != static_cast<int>(of.exchanges.size()) || !isBehind || e.offset % 4 != 0 ||
      e.extent % 4 != 0 || e.extent > weights - e.offset || e.start > e.wait ||
      (!isServed(of.form, of.variant) && e.wait > of.period) || !mayTravel(e.scheme, of))
    throw SchemaError{"exchange " + std::to_string(e.id) + " breaks rule P31"};
  return e;
}

/// Reads the shards, which lie one behind the other and fill the exchange.
void readShards(const Json &object, PlanConsistency &c, int servers) {
  for (const Json &entry : member(object, "shards")) {
    const PlanShard shard{count(entry, "server", 0), size(entry, "offset", 0),
                          size(entry, "extent", 4)};
    const std::int64_t end = c.shards.empty() ? c.exchanges.front().offset
                                              : c.shards.back().offset + c.shards.back().extent;
    if (shard.server != static_cast<int>(c.shards.size()) || shard.server >= servers ||
        shard.offset != end || shard.extent % 64 != 0)
      throw SchemaError{"shard " + std::to_string(shard.server) + " breaks rule P31"};
    c.shards.push_back(shard);
  }
  const PlanExchange &all = c.exchanges.front();
  if (isServed(c.form, c.variant) != c.isServed() ||
      (c.isServed() && c.shards.back().offset + c.shards.back().extent != all.offset + all.extent))
    throw SchemaError{"'shards' break rule P31"};
}

void readNumbers(const Json &object, PlanConsistency &c) {
  switch (c.form) {
  case PlanConsistency::Form::bsp:
  case PlanConsistency::Form::asp:
    return;
  case PlanConsistency::Form::local:
  case PlanConsistency::Form::diloco:
    c.period = size(object, "period", 1);
    c.mix = prediction(object, "mix");
    c.rate = prediction(object, "rate");
    c.momentum = prediction(object, "momentum");
    return;
  case PlanConsistency::Form::ssp:
    c.lower = c.upper = size(object, "staleness", 0);
    return;
  case PlanConsistency::Form::dssp:
    c.lower = size(object, "lower", 0);
    c.upper = size(object, "upper", c.lower);
    if (c.upper - c.lower > mostStepsApart)
      throw SchemaError{"'upper': expected at most " + std::to_string(mostStepsApart) +
                        " steps more than the lower bound of " + std::to_string(c.lower) +
                        ", got " + std::to_string(c.upper)};
    return;
  case PlanConsistency::Form::easgd:
    c.rho = prediction(object, "rho");
    c.period = size(object, "period", 1);
    return;
  }
}

} // namespace

std::string PlanConsistency::whyUnstable(int ranks, double learningRate) const {
  const double beta = ranks * learningRate * rho;
  if (form != Form::easgd || beta < 1)
    return "";
  std::ostringstream out;
  out << "warning: beta = ranks * learning rate * rho = " << ranks << " * " << learningRate << " * "
      << rho << " = " << beta << ", expected below 1: EASGD's centre is not stable";
  return out.str();
}

PlanConsistency readForm(const Json &plan) {
  PlanConsistency c;
  if (!plan.contains("consistency") || plan.at("consistency").is_null())
    return c;
  const Json &object = plan.at("consistency");
  c.form = oneOf<PlanConsistency::Form>(formNames, 1, object, "form");
  c.text = get<std::string>(object, "text");
  if (c.form == PlanConsistency::Form::easgd)
    c.variant = oneOf<PlanConsistency::Variant>(variantNames, 0, object, "variant");
  return c;
}

PlanConsistency readConsistency(const Json &plan, std::int64_t weights, int ranks, int servers) {
  PlanConsistency c = readForm(plan);
  if (c.form == PlanConsistency::Form::bsp)
    return c;
  const Json &object = plan.at("consistency");
  readNumbers(object, c);
  for (const Json &exchange : member(object, "exchanges"))
    c.exchanges.push_back(exchangeFrom(exchange, c, weights));
  if (c.exchanges.empty())
    throw SchemaError{"'exchanges': expected at least one"};
  readShards(object, c, servers > 0 ? servers : ranks);
  return c;
}

} // namespace syncline::run
