// Computes medians over steps and ranks, errors, and hints.
#include "frontend/report/MeasuredReport.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/report/MicroBatchText.h"
#include "frontend/report/PlanText.h"
#include "frontend/report/Table.h"
#include "passes/problem/WorkClass.h"
#include "runtime/core/Statistics.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace syncline::report {
namespace {

using files::formatSeconds;
using files::TraceEvent;
using Json = nlohmann::json;
using problem::WorkClass;

/// An error in the trace, not in the plan; thrown inside this file only.
struct TraceError {
  std::string message;
};

/// measured / predicted - 1; 0 where both times are 0.
double errorOf(double measured, double predicted) {
  if (predicted > 0)
    return measured / predicted - 1;
  return measured > 0 ? std::numeric_limits<double>::infinity() : 0;
}

/// "+3.21 %".
std::string signedPercent(double error) {
  return std::isfinite(error) ? (error < 0 ? "" : "+") + percent(error) : "new";
}

struct Message {
  double begin = 0, end = 0; ///< absolute; when the last rank began, when the last ended
};

/// One step of one rank; seconds from its beginning.
struct RankStep {
  double begin = std::numeric_limits<double>::infinity(), end = 0; ///< absolute
  double computing = 0, updating = 0;                              ///< sums
  double backwardEnd = 0;                                          ///< absolute
  LayerSeconds layers;                         ///< what they would take without messages
  std::vector<Message> messages;               ///< this rank's
  std::map<std::int64_t, double> ready, ended; ///< by bucket, absolute
};

class Measurements {
public:
  /// `cluster` says how much longer operations are predicted to take beside messages.
  Measurements(const files::ChromeTrace &trace, const Json &cluster) {
    const double common = cluster.at("interference");
    interference[WorkClass::products] = cluster.value("products_interference", common);
    interference[WorkClass::memory] = cluster.value("memory_interference", common);
    for (const TraceEvent &event : trace.events)
      if (event.rank && event.step)
        add(event);
    for (const TraceEvent &event : trace.events)
      if (event.rank && event.step && event.category == "compute" && !event.layer.empty())
        stepOf(event).layers[event.layer] += aloneSeconds(event);
  }

  bool isEmpty() const { return steps.empty(); }
  std::size_t stepCount() const {
    std::set<std::int64_t> numbers;
    for (const auto &[key, step] : steps)
      numbers.insert(key.first);
    return numbers.size();
  }
  std::size_t rankCount() const {
    std::set<std::int64_t> ranks;
    for (const auto &[key, step] : steps)
      ranks.insert(key.second);
    return ranks.size();
  }

  /// The median of `of` over every step of every rank.
  template <typename F> double typical(F &&of) const {
    std::vector<double> values;
    for (const auto &[key, step] : steps)
      values.push_back(of(step));
    return core::median(std::move(values));
  }

  bool has(std::int64_t bucket) const { return messages.contains(bucket); }

  double messageSeconds(std::int64_t bucket) const {
    std::vector<double> values;
    for (const auto &[step, message] : messages.at(bucket))
      values.push_back(message.end - message.begin);
    return core::median(std::move(values));
  }

  LayerSeconds layers() const {
    std::set<std::string> names;
    for (const auto &[key, step] : steps)
      for (const auto &[name, seconds] : step.layers)
        names.insert(name);
    LayerSeconds result;
    for (const std::string &name : names)
      result[name] = typical([&](const RankStep &step) {
        const auto found = step.layers.find(name);
        return found == step.layers.end() ? 0 : found->second;
      });
    return result;
  }

private:
  RankStep &stepOf(const TraceEvent &event) { return steps[{*event.step, *event.rank}]; }

  /// Seconds that the operation would have taken without its rank's messages beside it, if these
  /// slow it as much as predicted.
  double aloneSeconds(const TraceEvent &event) {
    double beside = 0;
    for (const Message &message : stepOf(event).messages)
      beside +=
          std::max(0.0, std::min(message.end, event.end()) - std::max(message.begin, event.begin));
    const double factor = interference[problem::workOfKernel(event.name)];
    return event.seconds - (1 - 1 / factor) * std::min(beside, event.seconds);
  }

  void add(const TraceEvent &event) {
    RankStep &step = stepOf(event);
    if (event.category != "message") { // which may reach over the step's end
      step.begin = std::min(step.begin, event.begin);
      step.end = std::max(step.end, event.end());
    }
    if (event.category == "update")
      step.updating += event.seconds;
    if (event.category == "compute") {
      step.computing += event.seconds;
      if (event.phase != "update")
        step.backwardEnd = std::max(step.backwardEnd, event.end());
    }
    if (event.category != "message" || !event.bucket)
      return;
    step.messages.push_back({event.begin, event.end()});
    // A bucket in halves has two events; it is ready with the first and ends with the second.
    step.ready.try_emplace(*event.bucket, event.ready.value_or(event.begin));
    double &ended = step.ended[*event.bucket];
    ended = std::max(ended, event.end());
    auto [place, isNew] =
        messages[*event.bucket].try_emplace(*event.step, Message{event.begin, event.end()});
    place->second.begin = std::max(place->second.begin, event.begin);
    place->second.end = std::max(place->second.end, event.end());
  }

  problem::ByClass<double> interference;
  std::map<std::pair<std::int64_t, std::int64_t>, RankStep> steps;  ///< by step and rank
  std::map<std::int64_t, std::map<std::int64_t, Message>> messages; ///< by bucket, then step
};

struct Row {
  std::string label, members, scheme;
  double predicted = 0, measured = 0; ///< end
  double predictedMessage = 0, message = 0;
  double predictedReady = 0, ready = 0;
  bool isBucket = true;
  double error() const { return errorOf(measured, predicted); }
};

Row bucketRow(const Json &bucket, const Measurements &measured) {
  const auto id = bucket.at("id").get<std::int64_t>();
  if (!measured.has(id))
    throw TraceError{"the trace has no message of bucket " + std::to_string(id)};
  Row row;
  row.label = std::to_string(id);
  row.members = memberSummary(bucket.at("members"));
  row.scheme = printable(bucket.at("scheme"));
  const bool isHalved = bucket.contains("all_gather");
  const Json &last = isHalved ? bucket.at("all_gather") : bucket; // the message that ends it
  row.scheme += isHalved ? ", all-gather" : "";
  row.predicted = last.at("end");
  row.predictedReady = bucket.at("ready");
  row.predictedMessage = row.predicted - last.at("start").get<double>();
  auto after = [id](const std::map<std::int64_t, double> &times, const RankStep &step) {
    const auto found = times.find(id);
    return found == times.end() ? 0 : found->second - step.begin;
  };
  row.measured = measured.typical([&](const RankStep &s) { return after(s.ended, s); });
  row.ready = measured.typical([&](const RankStep &s) { return after(s.ready, s); });
  row.message = measured.messageSeconds(id);
  return row;
}

std::string tableOf(std::vector<Row> rows) {
  std::ranges::stable_sort(
      rows, [](const Row &a, const Row &b) { return std::fabs(a.error()) > std::fabs(b.error()); });
  Table table({{"bucket", Align::right},
               {"members"},
               {"scheme"},
               {"end, predicted", Align::right},
               {"measured", Align::right},
               {"error", Align::right},
               {"ready, predicted", Align::right},
               {"measured", Align::right},
               {"message, predicted", Align::right},
               {"measured", Align::right},
               {"error", Align::right}});
  for (const Row &row : rows)
    table.addRow({row.label, row.members, row.scheme, formatSeconds(row.predicted),
                  formatSeconds(row.measured), signedPercent(row.error()),
                  formatSeconds(row.predictedReady), formatSeconds(row.ready),
                  formatSeconds(row.predictedMessage), formatSeconds(row.message),
                  signedPercent(errorOf(row.message, row.predictedMessage))});
  return rows.empty() ? std::string() : table.toString() + "\n";
}

std::string lineOf(const std::string &what, double predicted, double measured) {
  return what + ": predicted " + formatSeconds(predicted) + ", measured " +
         formatSeconds(measured) + ", " + signedPercent(errorOf(measured, predicted)) + "\n";
}

/// "3.21 % longer".
std::string difference(double error) {
  return percent(std::fabs(error)) + (error < 0 ? " less" : " more");
}

std::string computeHint(const LayerSeconds &predicted, const LayerSeconds &measured,
                        double tolerance) {
  double expected = 0, took = 0;
  std::vector<std::pair<double, std::string>> gaps;
  for (const auto &[name, seconds] : predicted) {
    const auto found = measured.find(name);
    if (found == measured.end())
      continue;
    expected += seconds;
    took += found->second;
    gaps.push_back({found->second - seconds, name});
  }
  const double error = errorOf(took, expected);
  if (gaps.empty() || std::fabs(error) <= tolerance)
    return {};
  std::ranges::stable_sort(
      gaps, [](const auto &a, const auto &b) { return std::fabs(a.first) > std::fabs(b.first); });
  constexpr std::size_t most = 3;
  std::string list;
  for (std::size_t i = 0; i < std::min(most, gaps.size()); ++i)
    list += (i ? ", '" : " '") + gaps[i].second + "' (" + (gaps[i].first < 0 ? "" : "+") +
            formatSeconds(gaps[i].first) + ")";
  return "layers take " + difference(error) + " than predicted, above all" + printable(list) +
         ": measure them again with 'syncline profile', with as many ranks side by side as run\n";
}

std::string schemeHints(const std::vector<Row> &rows, double tolerance) {
  std::map<std::string, std::pair<double, double>> sums; ///< predicted, measured
  for (const Row &row : rows) {
    sums[row.scheme].first += row.predictedMessage;
    sums[row.scheme].second += row.message;
  }
  std::string text;
  for (const auto &[scheme, sum] : sums)
    if (const double error = errorOf(sum.second, sum.first); std::fabs(error) > tolerance)
      text += "messages by '" + scheme + "' take " + difference(error) +
              " than predicted: measure the scheme again with 'syncline calibrate'\n";
  return text;
}

Comparison compare(const Json &plan, const LayerSeconds &layers, const Measurements &measured,
                   const files::ChromeTrace &trace, double tolerance) {
  const Json &predicted = plan.at("predicted");
  const auto since = [](double RankStep::*time) {
    return [time](const RankStep &step) { return step.*time - step.begin; };
  };
  const double step = measured.typical(since(&RankStep::end)),
               expected = lastMicroBatchSeconds(plan); // a trace has steps of one micro-batch
  const double updating = measured.typical([](const RankStep &s) { return s.updating; });
  std::vector<Row> rows;
  const bool travels = plan.at("ranks").get<std::int64_t>() > 1;
  for (const Json &bucket : plan.at("buckets"))
    if (travels)
      rows.push_back(bucketRow(bucket, measured));
  Comparison result;
  result.whose = "the step";
  result.worst = errorOf(step, expected);
  for (const Row &row : rows)
    if (std::fabs(row.error()) > std::fabs(result.worst)) {
      result.worst = row.error();
      result.whose = "bucket " + row.label;
    }
  result.report =
      "plan " + printable(plan.at("name")) + ", " + std::to_string(measured.stepCount()) +
      " steps of " + std::to_string(measured.rankCount()) + " ranks, " +
      (trace.kind.empty() ? "traced" : printable(trace.kind)) +
      (trace.clockError > 0 ? ", clocks within " + formatSeconds(trace.clockError) : "") + "\n\n";
  result.report += tableOf(rows);
  result.report += lineOf("step", expected, step) +
                   lineOf("end of backward", predicted.at("backward_end"),
                          measured.typical(since(&RankStep::backwardEnd))) +
                   lineOf("updates", predicted.at("updates"), updating) + "\n";
  std::string hints = computeHint(layers, measured.layers(), tolerance);
  if (const double error = errorOf(updating, predicted.at("updates")); std::fabs(error) > tolerance)
    hints += "updates take " + (std::isfinite(error) ? difference(error) : "more") +
             " than predicted: a profile's 'update' says what they take\n";
  hints += schemeHints(rows, tolerance);
  result.report += hints.empty()
                       ? "nothing to measure again: layers, updates and messages are within " +
                             percent(tolerance) + "\n"
                       : hints;
  return result;
}

} // namespace

Result<Comparison> compareMeasured(const Json &plan, const LayerSeconds &layers,
                                   const files::ChromeTrace &trace, double tolerance,
                                   const std::string &traceName) {
  try {
    return guarded([&] {
      if (trace.schema != "syncline-trace")
        throw TraceError{"expected a trace that 'syncline run --trace' wrote"};
      if (trace.plan != plan.at("hashes").at("plan").get<std::string>())
        throw TraceError{"the trace is of another plan"};
      const Measurements measured(trace, plan.at("cluster"));
      if (measured.isEmpty())
        throw TraceError{"the trace has no steps"};
      return compare(plan, layers, measured, trace, tolerance);
    });
  } catch (const TraceError &error) {
    return Status::badInput("'" + traceName + "': " + error.message);
  }
}

} // namespace syncline::report
