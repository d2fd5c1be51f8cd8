// A plan as text for people.
#include "frontend/report/PlanReport.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/report/BoundText.h"
#include "frontend/report/BucketTable.h"
#include "frontend/report/DisturbedText.h"
#include "frontend/report/ExchangeText.h"
#include "frontend/report/MemoryText.h"
#include "frontend/report/MicroBatchText.h"
#include "frontend/report/OrderText.h"
#include "frontend/report/PlanText.h"
#include "frontend/report/Provenance.h"
#include "frontend/report/RangeText.h"
#include "frontend/report/Throughput.h"
#include "syncline/PlanFiles.h"
#include "syncline/RowsPart.h"
#include "syncline/Scheme.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace syncline;
using namespace syncline::report;
using files::counted;
using files::formatBytes;
using files::formatSeconds;

/// The options by which the model was read otherwise than by default, as `compile` takes them.
static std::string readWith(const nlohmann::json &plan) {
  const nlohmann::json options = plan.value("options", nlohmann::json());
  if (!options.is_object())
    return "";
  std::string text;
  const auto add = [&](const std::string &option, const std::string &value) {
    text += (text.empty() ? ", read with " : " ") + option + " " + printable(value);
  };
  if (options.at("loss") != "cross-entropy")
    add("--loss", options.at("loss"));
  if (options.at("classes_in") != "auto")
    add("--classes-in", options.at("classes_in"));
  if (options.at("loss_on") != "")
    add("--loss-on", options.at("loss_on"));
  for (const nlohmann::json &glob : options.at("freeze"))
    add("--freeze", glob);
  if (options.at("parameters").is_array())
    add("--parameters", "(" + std::to_string(options.at("parameters").size()) + " names)");
  if (!options.at("dropout").get<bool>())
    add("--dropout", "off");
  for (const auto &[key, option] :
       {std::pair("dimensions", "--dim"), std::pair("batch_dimensions", "--batch-dimension")})
    for (const auto &[name, number] : options.at(key).items())
      add(option, name + "=" + number.dump());
  return text;
}

static std::string header(const nlohmann::json &plan, std::int64_t samples) {
  std::string text = "plan " + printable(plan.at("name")) + ", planner " +
                     printable(plan.at("planner")) + ", " +
                     counted(plan.at("ranks").get<std::int64_t>(), "rank");
  if (plan.contains("cluster") && plan.at("cluster").value("groups", 1) > 1)
    text += " of one of " + std::to_string(plan.at("cluster").at("groups").get<std::int64_t>()) +
            " groups that share the cards";
  if (std::int64_t servers = plan.at("servers"); servers > 0)
    text += " and " + counted(servers, "server");
  if (plan.at("batch").is_number())
    text += (microBatchesOf(plan) == 1
                 ? ", batch "
                 : ", " + std::to_string(microBatchesOf(plan)) + " micro-batches a step of ") +
            (samples > 0 ? std::to_string(samples) + " for all ranks"
                         : std::to_string(plan.at("batch").get<std::int64_t>()) + " a rank");
  if (const std::string optimizer = plan.value("optimizer", "sgd"); optimizer != "sgd")
    text += ", optimizer " + optimizer;
  if (const nlohmann::json precision = plan.value("precision", nlohmann::json());
      precision.is_string() && precision != "fp32")
    text += ", computes in " + printable(precision);
  if (const std::string wire = plan.value("wire", "fp32"); wire != "fp32")
    text += ", gradients travel as " + wire;
  const nlohmann::json &requested = plan.at("requested");
  for (std::size_t i = 0; i < requested.size(); ++i)
    text += (i == 0 ? ", requested " : " and ") + printable(requested[i]);
  text += readWith(plan);
  if (!plan.at("runnable").get<bool>())
    text += ", from a layer trace: no program for 'run'";
  return text + "\n\n";
}

/// ", reconstruction at 938 ms" where gradients are reconstructed from factors once all messages
/// have ended.
static std::string reconstruction(const nlohmann::json &predicted) {
  double last = predicted.at("reconstruction_end");
  return last > predicted.at("communication_end").get<double>()
             ? ", reconstruction at " + formatSeconds(last)
             : "";
}

/// What clipping by the norm of all gradients costs, where the plan does.
static std::string clipping(const nlohmann::json &plan) {
  const nlohmann::json norm = plan.value("clip_norm", nlohmann::json());
  if (norm.is_null())
    return "";
  const double step = plan.at("predicted").at("step"),
               without = plan.at("predicted").at("unclipped");
  return "gradients are clipped to a norm of " + norm.dump() +
         ", so that all updates follow the last message: without clipping the step would be " +
         formatSeconds(without) +
         (without > 0 ? " (clipping adds " + percent(std::max(step / without - 1, 0.0)) + ")"
                      : "") +
         "\n";
}

/// The gradients that travel in two parts, and what the step would be if they did not.
static std::string tied(const nlohmann::json &plan) {
  std::string text;
  for (const nlohmann::json &rows : plan.at("buckets")) {
    const std::vector<std::string> parts = rows.at("members");
    if (parts.empty() || !isRowsPart(parts.front()))
      continue;
    const std::string &name = parts.front();
    for (const nlohmann::json &dense : plan.at("buckets")) {
      const std::vector<std::string> members = dense.at("members");
      if (std::ranges::count(members, parameterOf(name)) > 0)
        text += "the gradient of " + printable(std::string(parameterOf(name))) +
                " travels in two parts: dense in bucket " + dense.at("id").dump() + " from " +
                formatSeconds(dense.at("start")) + " on, and " + formatBytes(rows.at("bytes")) +
                " a rank of an embedding's rows in bucket " + rows.at("id").dump() + " from " +
                formatSeconds(rows.at("start")) + " on, which are added before the update\n";
    }
  }
  const nlohmann::json whole = plan.at("predicted").value("whole", nlohmann::json());
  return whole.is_number() ? text + "whole, it would make the step " + formatSeconds(whole) + "\n"
                           : text;
}

/// The plan's predicted times, in virtual time.
static std::string prediction(const nlohmann::json &plan) {
  const nlohmann::json &predicted = plan.at("predicted");
  const double step = predicted.at("step"), exposed = predicted.at("exposed"),
               last = lastMicroBatchSeconds(plan);
  const double overhead = predicted.value("overhead", 0.0);
  return "predicted step " + formatSeconds(step) + " in virtual time" +
         (predicted.value("scatters", false) ? ", the mean of steps that scatter as the profile's"
                                             : "") +
         stepParts(plan) + " backward ends at " + formatSeconds(predicted.at("backward_end")) +
         ", communication at " + formatSeconds(predicted.at("communication_end")) +
         reconstruction(predicted) + ", exposed " + formatSeconds(exposed) + " (" +
         percent(last > 0 ? exposed / last : 0) + "), updates take " +
         formatSeconds(predicted.at("updates")) +
         (overhead > 0 ? ", " + formatSeconds(overhead) + " are outside of operations" : "") +
         "\n" + microBatchText(plan) + clipping(plan) + tied(plan) +
         (hasOrder(plan)
              ? "messages may reach into the next forward pass, which waits for a bucket where it "
                "first reads the bucket's parameters and updates them there; times of a message "
                "count from the beginning of the step that issues it\n"
              : "") +
         disturbedText(predicted);
}

/// Samples a second and scaling, on a line of their own; empty where the plan does not say.
static std::string throughput(const nlohmann::json &plan, std::int64_t samples) {
  const nlohmann::json &predicted = plan.at("predicted");
  auto numberOr0 = [](const nlohmann::json &value) {
    return value.is_number() ? value.get<double>() : 0;
  };
  const auto ranks = plan.at("ranks").get<std::int64_t>();
  const double each = samples > 0 ? static_cast<double>(samples) / static_cast<double>(ranks)
                                  : numberOr0(plan.at("batch"));
  // One device alone would have another batch where ranks have unequal ones.
  const Throughput rate{ranks, each * static_cast<double>(microBatchesOf(plan)),
                        predicted.at("step"),
                        samples > 0 ? 0 : numberOr0(predicted.value("alone", nlohmann::json()))};
  const std::string text = throughputText(rate);
  return text.empty() ? "" : text + "\n";
}

/// Where the times come from, and which nodes hold the others up: none where ranks are `balanced`.
static std::string sources(const nlohmann::json &plan, bool balanced) {
  if (!plan.contains("cluster") || !plan.contains("provenance"))
    return "";
  return provenanceText(plan.at("provenance"), plan.at("cluster")) +
         (balanced ? "" : slowNodesText(plan.at("cluster")));
}

/// Whether the plan's times count what messages take from each class of operations.
static bool countsClasses(const nlohmann::json &plan) {
  const auto isStated = [](const nlohmann::json &of) {
    return of.contains("products_interference") || of.contains("memory_interference");
  };
  if (isLocal(plan) || !plan.at("runnable").get<bool>()) // layers of a trace have no class
    return false;
  const nlohmann::json cluster = plan.value("cluster", nlohmann::json::object());
  return isStated(cluster) ||
         std::ranges::any_of(cluster.value("collectives", nlohmann::json::array()), isStated);
}

/// How much longer operations of each class take beside messages, where these are told apart.
static std::string classFactors(const nlohmann::json &plan) {
  if (!countsClasses(plan))
    return "";
  const nlohmann::json &cluster = plan.at("cluster");
  const auto beside = [&](const std::string &messages, const nlohmann::json &stated) {
    const auto times = [&](const char *key) {
      // A scheme's number for all operations is nearer than the cluster's for a class.
      const nlohmann::json &of =
          stated.contains(key) || stated.contains("interference") ? stated : cluster;
      return files::formatNumber(of.value(key, of.value("interference", 1.0)), 4);
    };
    return "beside " + messages + " convolutions and products take " +
           times("products_interference") + " times as long, other operations " +
           times("memory_interference") + " times\n";
  };
  std::string text = beside("messages", cluster);
  for (const nlohmann::json &stated : cluster.value("collectives", nlohmann::json::array()))
    if (stated.contains("interference") || stated.contains("products_interference") ||
        stated.contains("memory_interference"))
      text += beside("messages by " + printable(stated.at("scheme")), stated);
  return text + (hasOrder(plan) ? "the planner's model has one number for both, and the bound "
                                  "counts the least of these\n"
                                : "the bound counts the least of these\n");
}

/// The proved bound, which holds for the finish in the planner's model.
static std::string proof(const nlohmann::json &plan) {
  if (hasOrder(plan))
    return orderText(plan);
  if (isLocal(plan))
    return "no bound: gradients stay on their rank\n";
  const nlohmann::json &planner = plan.at("predicted").at("planner");
  std::string text = "in the planner's model (" + slowingText(planner.value("lost", 0.0)) +
                     ", updates come last) all gradients exist at " +
                     formatSeconds(planner.at("finish")) +
                     (microBatchesOf(plan) == 1 ? "" : " of the last micro-batch") + ", and ";
  text += plan.at("requested").empty() ? "no plan" : "no plan with the schemes requested";
  return text + " finishes before " + boundText(plan);
}

/// Whether the plan has a step that was not compiled.
static bool isUncompiled(const nlohmann::json &plan) {
  const nlohmann::json files =
      plan.value("hashes", nlohmann::json::object()).value("files", nlohmann::json::object());
  return files.contains("step.cu") && !files.contains("step.so");
}

/// The library that carries a GPU plan's messages, and the schemes that it lacks.
static std::string carrier(const nlohmann::json &plan) {
  constexpr auto lacking = schemesWhere<[](Scheme scheme) { return !isCarried(scheme, true); }>;
  if (!plan.value("nccl", false))
    return "";
  return "for backend " + printable(plan.at("backend")) +
         ": NCCL carries the messages; it has no " + listOf(lacking, ", ") +
         " or dedicated servers\n" + (isUncompiled(plan) ? std::string(notCompiled) + "\n" : "");
}

static std::string totals(const nlohmann::json &plan, std::int64_t samples) {
  const std::string messages = isLocal(plan)
                                   ? fragmentsText(plan)
                                   : counted(plan.at("buckets").size(), "message") + ", " +
                                         formatBytes(bytesOf(plan.at("buckets"))) + " of gradients";
  return "\n" + messages + ", " + formatTraffic(plan.at("predicted").at("traffic")) +
         " to and from a node\n" + carrier(plan) + prediction(plan) + throughput(plan, samples) +
         rangeText(plan) + memoryText(plan) + proof(plan) + classFactors(plan) +
         sources(plan, samples > 0);
}

static std::string reportText(const nlohmann::json &plan, bool allMembers, std::int64_t samples) {
  return header(plan, samples) + bucketTable(plan, allMembers) + exchangeText(plan) +
         totals(plan, samples);
}

Result<std::string> syncline::report::planReport(const nlohmann::json &plan, bool allMembers,
                                                 std::int64_t samples) {
  return guarded([&] { return reportText(plan, allMembers, samples); });
}
