// The fragments of weights in words.
#include "frontend/report/ExchangeText.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/report/PlanText.h"
#include "frontend/report/Table.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace syncline::report {

using files::formatBytes;
using files::formatSeconds;
using nlohmann::json;

bool isLocal(const json &plan) {
  return plan.contains("consistency") && plan.at("consistency").is_object();
}

std::string consistencyOf(const json &plan) {
  return isLocal(plan) ? printable(plan.at("consistency").at("text")) : "bsp";
}

static std::string steps(std::int64_t count) {
  return std::to_string(count) + (count == 1 ? " step" : " steps");
}

std::string fragmentsText(const json &plan) {
  const json &exchanges = plan.at("consistency").at("exchanges");
  std::int64_t bytes = 0;
  for (const json &exchange : exchanges)
    bytes += exchange.at("bytes").get<std::int64_t>();
  return std::to_string(exchanges.size()) +
         (exchanges.size() == 1 ? " fragment, " : " fragments, ") + formatBytes(bytes) +
         " of weights";
}

/// What an arrival does to the weights.
static std::string arrival(const json &consistency) {
  if (consistency.at("form") == "local")
    return "all weights become their mean over the ranks";
  return "what travels is the difference from the weights that ranks have in common; these take a "
         "step of Nesterov SGD along its mean, rate " +
         consistency.at("rate").dump() + ", momentum " + consistency.at("momentum").dump() +
         "; a rank keeps " + percent(consistency.at("mix")) + " of its own weights";
}

std::string exchangeText(const json &plan) {
  if (!isLocal(plan))
    return "";
  const json &consistency = plan.at("consistency"), &exchanges = consistency.at("exchanges");
  Table table({{"fragment", Align::right},
               {"weights"},
               {"bytes", Align::right},
               {"scheme"},
               {"traffic", Align::right},
               {"starts after", Align::right},
               {"used after", Align::right},
               {"takes", Align::right}});
  double traffic = 0;
  for (const json &exchange : exchanges) {
    traffic += exchange.at("traffic").get<double>();
    table.addRow({std::to_string(exchange.at("id").get<std::int64_t>()),
                  memberSummary(exchange.at("members")), formatBytes(exchange.at("bytes")),
                  printable(exchange.at("scheme")), formatTraffic(exchange.at("traffic")),
                  steps(exchange.at("start")), steps(exchange.at("wait")),
                  formatSeconds(exchange.at("seconds"))});
  }
  const auto period = consistency.at("period").get<std::int64_t>();
  return "\nconsistency " + consistencyOf(plan) +
         ": gradients stay on their rank, the buckets above only update; every " + steps(period) +
         ", " + arrival(consistency) + "\n\n" + table.toString() + "a step moves " +
         formatTraffic(traffic / static_cast<double>(period)) +
         " to and from a node in the mean; with bsp and the same schemes it would move " +
         formatTraffic(traffic) + ", " + std::to_string(period) + " times as much\n" +
         "the predicted step is the mean over these steps; it leaves out that messages slow "
         "computation, and the arithmetic on arrival\n";
}

Result<std::string> whyExchange(const json &plan, const std::string &parameter) {
  bool isFound = false;
  Result<std::string> text = guarded([&] {
    const json &consistency = plan.at("consistency");
    for (const json &exchange : consistency.at("exchanges")) {
      const json &members = exchange.at("members");
      if (std::find(members.begin(), members.end(), json(parameter)) == members.end())
        continue;
      isFound = true;
      return printable(parameter) + ": the gradient stays on its rank, as consistency " +
             consistencyOf(plan) + " says\nits weights travel in fragment " +
             std::to_string(exchange.at("id").get<std::int64_t>()) + " of " +
             std::to_string(consistency.at("exchanges").size()) + ", " + memberSummary(members) +
             ", " + formatBytes(exchange.at("bytes")) + " by " + printable(exchange.at("scheme")) +
             " in " + formatSeconds(exchange.at("seconds")) + "\nof every " +
             steps(consistency.at("period")) + ", it starts after " + steps(exchange.at("start")) +
             " and is used after " + steps(exchange.at("wait")) + "\n";
    }
    return std::string();
  });
  if (text && !isFound)
    return Status::badInput("no fragment has '" + printable(parameter) + "'");
  return text;
}

} // namespace syncline::report
