// The fragments of weights in words.
#include "frontend/report/ExchangeText.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/report/PlanText.h"
#include "frontend/report/Table.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace syncline::report {

using files::counted;
using files::formatBytes;
using files::formatSeconds;
using nlohmann::json;

bool isLocal(const json &plan) {
  return plan.contains("consistency") && plan.at("consistency").is_object();
}

std::string consistencyOf(const json &plan) {
  return isLocal(plan) ? printable(plan.at("consistency").at("text")) : "bsp";
}

static std::string steps(std::int64_t count) { return counted(count, "step"); }

/// "3 steps", or what bounds nothing.
static std::string bound(const json &count) {
  return count.is_null() ? "no bound" : steps(count.get<std::int64_t>());
}

/// Steps from one exchange of the same weights to the next.
static std::int64_t periodOf(const json &consistency) { return consistency.value("period", 1); }

/// "2 dedicated servers", "4 servers beside ranks".
static std::string serversText(const json &plan) {
  const std::size_t count = plan.at("consistency").at("shards").size();
  return plan.at("servers") == 0 ? counted(count, "server") + " beside ranks"
                                 : counted(count, "dedicated server");
}

std::string fragmentsText(const json &plan) {
  const json &consistency = plan.at("consistency"), &exchanges = consistency.at("exchanges");
  const std::string bytes = formatBytes(bytesOf(exchanges));
  if (!consistency.at("shards").empty())
    return bytes + " of weights on " + serversText(plan);
  return counted(exchanges.size(), "fragment") + ", " + bytes + " of weights";
}

/// How servers bound the lead of a rank.
static std::string leadText(const json &plan) {
  const json &consistency = plan.at("consistency");
  std::string text = serversText(plan) + " add up what each step changes; ";
  if (consistency.at("form") == "asp")
    return text + "no rank waits for another";
  if (consistency.at("form") == "ssp")
    return text + "no rank is more than " + steps(consistency.at("staleness")) +
           " ahead of what it has read of every other";
  return text + "a rank may be " + steps(consistency.at("lower")) +
         " ahead of the slowest, and the fastest up to " + steps(consistency.at("upper")) +
         " where servers expect that to shorten its waiting";
}

/// What happens to weights and centre with EASGD, and when.
static std::string elasticText(const json &plan) {
  const json &consistency = plan.at("consistency");
  const auto variant = consistency.at("variant").get<std::string>();
  std::string text = "every " + steps(periodOf(consistency)) +
                     ", weights and a centre move towards each other by learning rate * " +
                     consistency.at("rho").dump() + " of their difference; ";
  if (variant == "sync1")
    return text + "before the step, the sum of weights goes up a tree and the centre comes down";
  if (variant == "sync2")
    return text + "every rank has the centre, and gets the sum of weights before the step";
  if (variant == "sync3")
    return text + "every rank has the centre, and gets the sum of weights while the step computes";
  text += "the centre is on " + serversText(plan) + ", ";
  if (variant == "original")
    return text + "where ranks take turns: one exchanges and computes, the others wait";
  return text + "which take exchanges " +
         (variant == "hogwild" ? "without a lock" : "one after the other") +
         " while ranks compute" + (variant == "momentum" ? ", with the run's momentum" : "");
}

/// Who waits for whom, and what an exchange does.
static std::string meaning(const json &plan) {
  const json &consistency = plan.at("consistency");
  const auto form = consistency.at("form").get<std::string>();
  if (form == "easgd")
    return elasticText(plan);
  if (form != "local" && form != "diloco")
    return leadText(plan);
  const std::string every = "every " + steps(periodOf(consistency)) + ", ";
  if (form == "local")
    return every + "all weights become their mean over the ranks";
  return every +
         "what travels is the difference from the weights that ranks have in common; these take a "
         "step of Nesterov SGD along its mean, rate " +
         consistency.at("rate").dump() + ", momentum " + consistency.at("momentum").dump() +
         "; a rank keeps " + percent(consistency.at("mix")) + " of its own weights";
}

/// What a step moves in the mean, and the limits of the prediction.
static std::string traffics(const json &consistency, double traffic) {
  const std::int64_t period = periodOf(consistency);
  std::string text = "a step moves " + formatTraffic(traffic / static_cast<double>(period)) +
                     " to and from a node in the mean";
  if (period > 1)
    text += "; with bsp and the same schemes it would move " + formatTraffic(traffic) + ", " +
            std::to_string(period) + " times as much";
  text += "\nthe predicted step is the mean over these steps; it leaves out that messages slow "
          "computation, and the arithmetic on arrival\n";
  if (!consistency.at("shards").empty())
    text += "by servers a message takes what the busiest server or rank needs where all ranks "
            "exchange at once; faster ranks wait for no more than that\n";
  return text;
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
                  steps(exchange.at("start")), bound(exchange.at("wait")),
                  formatSeconds(exchange.at("seconds"))});
  }
  return "\nconsistency " + consistencyOf(plan) +
         ": gradients stay on their rank, the buckets above only update; " + meaning(plan) +
         "\n\n" + table.toString() + traffics(consistency, traffic);
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
             steps(periodOf(consistency)) + ", it starts after " + steps(exchange.at("start")) +
             " and is used after " + bound(exchange.at("wait")) + "\n" + meaning(plan) + "\n";
    }
    return std::string();
  });
  if (text && !isFound)
    return Status::badInput("no fragment has '" + printable(parameter) + "'");
  return text;
}

} // namespace syncline::report
