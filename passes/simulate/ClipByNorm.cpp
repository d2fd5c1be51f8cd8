// Moves updates behind the norm, and with them the second halves of reduce-scatters.
#include "passes/simulate/ClipByNorm.h"

namespace syncline::simulate {

namespace {

using Kind = Operation::Kind;

void append(Scenario &scenario, Kind kind, std::size_t message, double seconds = 0) {
  scenario.operations.push_back({.kind = kind,
                                 .phase = Phase::update,
                                 .seconds = seconds,
                                 .message = static_cast<int>(message)});
}

std::vector<std::size_t> reduceScatters(const Scenario &scenario) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < scenario.messages.size(); ++i)
    if (scenario.messages[i].scheme == Scheme::reduceScatter)
      found.push_back(i);
  return found;
}

void shareSquares(Scenario &scenario, Scheme scheme) {
  const std::size_t norm = scenario.messages.size();
  scenario.norm = static_cast<int>(norm);
  scenario.messages.push_back({.name = "norm", .scheme = scheme, .bytes = sizeof(double)});
  append(scenario, Kind::issue, norm);
  append(scenario, Kind::wait, norm);
}

/// Updates each rank's parts and gathers the parameters.
void updateShards(Scenario &scenario, const std::vector<std::size_t> &sharded, double share) {
  std::vector<std::size_t> gathers;
  for (std::size_t message : sharded) {
    const std::size_t gather = gathers.emplace_back(addSecondHalf(scenario.messages, message));
    Message &first = scenario.messages[message];
    append(scenario, Kind::update, message, first.shardUpdate * static_cast<double>(first.bytes));
    append(scenario, Kind::issue, gather);
    first.shardUpdate *= share;
  }
  for (std::size_t gather : gathers)
    append(scenario, Kind::wait, gather);
}

} // namespace

void clipByNorm(Scenario &scenario, double share, std::optional<Scheme> normScheme) {
  std::vector<Operation> updates;
  for (Operation &op : scenario.operations)
    if (op.kind == Kind::update) {
      updates.push_back(op);
      op.kind = Kind::square;
      op.seconds *= share;
    }
  const std::vector<std::size_t> sharded = reduceScatters(scenario);
  if (!sharded.empty() && normScheme)
    shareSquares(scenario, *normScheme);
  updateShards(scenario, sharded, share);
  scenario.operations.insert(scenario.operations.end(), updates.begin(), updates.end());
}

} // namespace syncline::simulate
