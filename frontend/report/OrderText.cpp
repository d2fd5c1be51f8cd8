// The order of a plan's messages in words.
#include "frontend/report/OrderText.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/report/BoundText.h"
#include "frontend/report/MicroBatchText.h"
#include "frontend/report/PlanText.h"
#include "syncline/Scheme.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <vector>

namespace syncline::report {

using files::formatSeconds;

bool hasOrder(const nlohmann::json &plan) { return plan.value("overlap", "backward") == "step"; }

UnderWay underWay(const nlohmann::json &plan) {
  const double backwardEnd = plan.at("predicted").at("backward_end");
  UnderWay found;
  const auto add = [&](const nlohmann::json &message) {
    const double start = message.at("start"), end = message.at("end");
    found.behindBackward += std::max(std::min(end, backwardEnd) - start, 0.0);
    found.after += std::max(end - std::max(start, backwardEnd), 0.0);
  };
  for (const nlohmann::json &bucket : plan.at("buckets")) {
    add(bucket);
    if (bucket.contains("all_gather"))
      add(bucket.at("all_gather"));
  }
  return found;
}

static std::string hidden(const nlohmann::json &plan) {
  const UnderWay found = underWay(plan);
  return "messages are under way for " + formatSeconds(found.behindBackward) +
         " behind the backward pass and " + formatSeconds(found.after) +
         " after it, of which computation waits " +
         formatSeconds(plan.at("predicted").at("exposed")) + "\n";
}

/// The buckets that leave before a bucket of gradients which were ready earlier.
static std::string overtaking(const nlohmann::json &plan) {
  std::map<std::string, double> ready;
  for (const nlohmann::json &layer : plan.at("layers"))
    ready[layer.at("name")] = layer.at("ready");
  std::vector<double> readyOf; // of each bucket's last gradient
  for (const nlohmann::json &bucket : plan.at("buckets")) {
    double last = 0;
    for (const std::string name : bucket.at("members"))
      last = std::max(last, ready[name]);
    readyOf.push_back(last);
  }
  std::size_t count = 0, cut = 0;
  std::string first;
  for (std::size_t i = 0; i < readyOf.size(); ++i) {
    const nlohmann::json &bucket = plan.at("buckets")[i];
    cut += bucket.contains("cut");
    std::size_t overtaken = readyOf.size();
    for (std::size_t j = readyOf.size(); j-- > i + 1;)
      if (readyOf[j] < readyOf[i])
        overtaken = j;
    if (overtaken == readyOf.size())
      continue;
    if (count++ == 0)
      first = "bucket " + std::to_string(i) + " (" + memberSummary(bucket.at("members")) +
              ") leaves before bucket " + std::to_string(overtaken) +
              ", which was ready earlier but is needed later";
  }
  std::string text;
  if (count > 0)
    text = std::to_string(count) + " of " + std::to_string(readyOf.size()) +
           " messages overtake others, because the next forward pass needs them earlier: " + first +
           "\n";
  if (cut > 0)
    text += std::to_string(cut) + " messages carry a part of a gradient only\n";
  return text;
}

/// How many buckets travel in halves.
static std::string halves(const nlohmann::json &plan) {
  const nlohmann::json &buckets = plan.at("buckets");
  const auto count = std::ranges::count_if(
      buckets, [](const nlohmann::json &bucket) { return bucket.contains("all_gather"); });
  if (count == 0)
    return "";
  const auto gathers = [&](bool parameters) {
    return std::ranges::any_of(buckets, [&](const nlohmann::json &bucket) {
      return bucket.contains("all_gather") &&
             (bucket.at("scheme") == schemeName(Scheme::reduceScatter)) == parameters;
    });
  };
  const std::string gathered = std::string(gathers(false) ? "the sums" : "") +
                               (gathers(false) && gathers(true) ? " or of " : "") +
                               (gathers(true) ? "the updated parameters" : "");
  return std::to_string(count) + " of " + std::to_string(buckets.size()) +
         " buckets travel in halves: a reduce-scatter of their gradients, and at a later place on "
         "the channel an all-gather of " +
         gathered + "\n";
}

/// "of 4 cases the shortest one has fc6 by factors and fc7 in buckets, fc6 before conv1: ", where
/// there are several.
static std::string cases(const nlohmann::json &proof) {
  const std::size_t others = proof.contains("others") ? proof.at("others").size() : 0;
  if (others == 0)
    return "";
  std::string text;
  for (const auto &[key, way] :
       {std::pair{"by_factors", " by factors"}, {"in_buckets", " in buckets"}})
    if (const nlohmann::json &layers = proof.at(key); !layers.empty())
      text += (text.empty() ? "" : " and ") + memberSummary(layers) + way;
  for (const nlohmann::json &order : proof.value("orders", nlohmann::json::array()))
    text += (text.empty() ? "" : ", ") + printable(order.at(0).get<std::string>()) + " before " +
            printable(order.at(1).get<std::string>());
  return "of " + std::to_string(others + 1) + " cases the shortest one has " + text + ": ";
}

/// Why no order has a shorter step.
static std::string certificate(const nlohmann::json &plan) {
  const nlohmann::json &proof = plan.at("certificate");
  if (proof.is_null() || !proof.contains("layers"))
    return "";
  const double bound = proof.at("bound"), ready = proof.at("ready"), tail = proof.at("tail");
  const nlohmann::json &layers = proof.at("layers");
  const double compute = proof.at("compute"), lost = proof.value("lost", 0.0),
               beside = proof.value("lost_beside", 0.0);
  if (bound <= compute + lost || layers.empty())
    return "proof: " + cases(proof) + "computation alone takes " + formatSeconds(compute) +
           (lost > 0 ? ", and messages take " + formatSeconds(lost) + " from it at least" : "") +
           "\n";
  const double weight = proof.value("channel_weight", 1.0);
  const double channel = (bound - beside - (1 - weight) * compute) / weight - ready - tail;
  const bool isOne = layers.size() == 1;
  std::string text =
      "proof: " + cases(proof) + memberSummary(layers) + (isOne ? " is ready " : " are ready ") +
      formatSeconds(ready) + " after the backward pass begins or later, " +
      (isOne ? "needs" : "need") + " the channel for " + formatSeconds(channel) +
      " from then on, and " + formatSeconds(tail) + " of " +
      (proof.value("orders", nlohmann::json::array()).empty() ? "" : "later messages, ") +
      "the next forward pass " +
      (proof.value("by_factors", nlohmann::json::array()).empty()
           ? "follow"
           : "and of reconstruction follow") +
      (isOne ? " it" : " them") +
      (beside > 0 ? ", and messages of others take " + formatSeconds(beside) + " from computation"
                  : "") +
      "\n";
  if (weight < 1)
    text += "a second of reconstruction from factors" +
            std::string(lost > 0 ? ", or that messages take from computation," : "") +
            " is counted as " + formatSeconds((1 - weight) / weight) +
            " on the channel; the bound weighs all this with " + percent(weight) +
            " and computation, " + formatSeconds(compute) + ", with " + percent(1 - weight) + "\n";
  return text;
}

std::string orderText(const nlohmann::json &plan) {
  const nlohmann::json &planner = plan.at("predicted").at("planner");
  std::string text = hidden(plan) + halves(plan) + overtaking(plan) + "in the planner's model (" +
                     slowingText(planner.value("lost", 0.0)) + ") " +
                     (microBatchesOf(plan) == 1
                          ? "a step takes " + formatSeconds(planner.at("step"))
                          : "the last micro-batch takes " + formatSeconds(planner.at("finish"))) +
                     ", and ";
  text += plan.at("requested").empty() ? "no order" : "no order with the schemes requested";
  text += (microBatchesOf(plan) == 1 ? " has a step below " : " has one below ") + boundText(plan);
  return text + certificate(plan);
}

} // namespace syncline::report
