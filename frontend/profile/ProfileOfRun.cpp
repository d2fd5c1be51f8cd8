// Medians of times by node and phase; checks whether they add up to the step.
#include "frontend/profile/ProfileOfRun.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/report/PlanText.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>

namespace syncline::profile {
namespace {

using Json = nlohmann::json;
using Series = std::vector<double>; ///< one number a step

/// The quantile of `values` at `fraction`, interpolated.
double quantile(Series values, double fraction) {
  std::ranges::sort(values);
  const double at = fraction * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (at - static_cast<double>(low)) * (values[high] - values[low]);
}

double spreadOf(const Series &values) { return quantile(values, 0.75) - quantile(values, 0.25); }

void addTo(Series &sum, const Series &values, double factor = 1) {
  sum.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    sum[i] += factor * values[i];
}

struct Node {
  Series forward, backward;
  Series both() const {
    Series sum = forward;
    addTo(sum, backward.empty() ? Series(forward.size()) : backward);
    return sum;
  }
};

/// All measured times, by node or by what else they belong to.
struct Times {
  Series steps, whole; ///< seconds of a step's operations, of the whole step
  std::map<std::string, Node> nodes;
  Series updates, nameless; ///< seconds of updates; of operations without a node
  Series surplus;           ///< seconds of reconstruction beyond this rank's share
  double updatedBytes = 0;
};

Series seriesOf(const Json &operation, std::size_t steps) {
  auto seconds = operation.at("seconds").get<Series>();
  if (seconds.size() != steps)
    throw report::SchemaError{"an operation has " + std::to_string(seconds.size()) +
                              " times, expected " + std::to_string(steps)};
  return seconds;
}

Times sorted(const Json &json) {
  Times times;
  times.steps = json.at("steps").get<Series>();
  if (times.steps.empty())
    throw report::SchemaError{"no step was measured"};
  const std::size_t steps = times.steps.size();
  times.whole = json.at("whole").get<Series>();
  if (times.whole.size() != steps)
    throw report::SchemaError{"'whole' has " + std::to_string(times.whole.size()) +
                              " times, expected " + std::to_string(steps)};
  for (Series *series : {&times.updates, &times.nameless, &times.surplus})
    series->resize(steps);
  const double ranks = json.at("ranks").get<double>();
  for (const Json &operation : json.at("operations")) {
    const Series seconds = seriesOf(operation, steps);
    const auto layer = operation.at("layer").get<std::string>();
    const auto phase = operation.at("phase").get<std::string>();
    if (operation.at("kind") == "update") {
      addTo(times.updates, seconds);
      times.updatedBytes += operation.at("bytes").get<double>();
    } else if (layer.empty()) {
      addTo(times.nameless, seconds);
    } else {
      Node &node = times.nodes[layer];
      node.forward.resize(steps);
      // In the phase of updates only reconstruction computes, in `ranks` equal shares.
      const double share = phase == "update" ? 1 / ranks : 1;
      addTo(phase == "forward" ? node.forward : node.backward, seconds, share);
      addTo(times.surplus, seconds, 1 - share);
    }
  }
  return times;
}

/// Means over the steps whose length is between the quartiles.
class Midmean {
public:
  explicit Midmean(const Series &steps) {
    const double low = quantile(steps, 0.25), high = quantile(steps, 0.75);
    for (std::size_t i = 0; i < steps.size(); ++i)
      if (steps[i] >= low && steps[i] <= high)
        chosen.push_back(i);
  }
  double operator()(const Series &values) const {
    double sum = 0;
    for (std::size_t i : chosen)
      sum += values[i];
    return sum / static_cast<double>(chosen.size());
  }

private:
  std::vector<std::size_t> chosen; ///< never empty: the step nearest to the median is among them
};

template <typename Typical>
void fill(MeasuredProfile &measured, const Times &times, Typical &&typical) {
  measured.forward = measured.backward = 0;
  measured.step = typical(times.steps);
  measured.updates = typical(times.updates);
  for (const auto &[name, node] : times.nodes) {
    files::OperationTimes &entry = measured.profile.operations[name];
    entry.forward = typical(node.forward);
    entry.spread = spreadOf(node.both());
    measured.forward += entry.forward;
    if (!node.backward.empty()) {
      entry.backward = typical(node.backward);
      measured.backward += *entry.backward;
    }
  }
  measured.operations = measured.forward + measured.backward + measured.updates +
                        typical(times.nameless) + typical(times.surplus);
  Series rest = times.whole;
  addTo(rest, times.steps, -1);
  measured.profile.overhead = std::max(0.0, typical(rest));
  if (times.updatedBytes > 0)
    measured.profile.update = measured.updates / times.updatedBytes;
}

double mean(const Series &values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// How many times as long as usual steps took: at most 64 of the measured rank, evenly spread, and
/// those of the others beside them. To four digits behind the point. A step that was interrupted
/// for long, such as by another program, counts as four: a few of these would decide the mean, and
/// they say little of the steps to come.
std::vector<Series> scatterOf(const Series &whole, double usual, const SideBySide &beside) {
  constexpr std::size_t most = 64;
  constexpr double digits = 1e4, longest = 4;
  std::vector<Series> ranks{whole};
  for (const RankSteps &other : beside.others)
    ranks.push_back(stepsBeside({whole, beside.end}, other));
  const std::size_t count = std::min(whole.size(), most);
  std::vector<Series> scatter;
  for (const Series &steps : ranks) {
    Series &factors = scatter.emplace_back();
    for (std::size_t i = 0; i < count; ++i)
      factors.push_back(
          std::clamp(std::round(steps[i * whole.size() / count] / usual * digits) / digits,
                     1 / digits, longest));
  }
  return scatter;
}

MeasuredProfile measure(const Json &json, const SideBySide &beside) {
  if (json.at("schema") != 1)
    throw report::SchemaError{"expected schema 1, got " + json.at("schema").dump()};
  MeasuredProfile measured;
  measured.model = json.at("name").get<std::string>();
  measured.profile.batch = json.at("batch").get<std::int64_t>();
  measured.steady = json.at("steady").get<bool>();
  const Times times = sorted(json);
  measured.steps = times.steps.size();
  measured.spread = spreadOf(times.steps);
  measured.ranks = static_cast<int>(beside.others.size()) + 1;
  if (beside.sharesProcessors) {
    measured.kind = MeasuredProfile::Kind::means;
    fill(measured, times, mean);
    return measured;
  }
  fill(measured, times, [](const Series &values) { return quantile(values, 0.5); });
  if (!measured.addsUp()) {
    measured.kind = MeasuredProfile::Kind::middle;
    fill(measured, times, Midmean(times.steps));
  }
  files::Profile &profile = measured.profile;
  profile.overhead = std::max(*profile.overhead, quantile(times.whole, 0.5) - measured.operations);
  if (const double usual = measured.operations + *profile.overhead; usual > 0)
    profile.scatter = scatterOf(times.whole, usual, beside);
  return measured;
}

} // namespace

bool MeasuredProfile::addsUp() const { return std::fabs(operations - step) <= 0.02 * step; }

Result<MeasuredProfile> profileOfTimes(const Json &times, const SideBySide &beside) {
  return report::guarded([&] { return measure(times, beside); });
}

static const char *describe(MeasuredProfile::Kind kind) {
  switch (kind) {
  case MeasuredProfile::Kind::medians:
    return "";
  case MeasuredProfile::Kind::middle:
    return ", by means of the middle half of the steps: they were interrupted";
  case MeasuredProfile::Kind::means:
    return ", by means: the ranks share processors";
  }
  return "";
}

/// "steps of one rank take 1.02 times as long in the mean, the slowest of 2 ranks' 1.06 times".
static std::string scatterText(const std::vector<Series> &scatter) {
  Series slowest = scatter.front();
  for (const Series &rank : scatter)
    for (std::size_t i = 0; i < slowest.size(); ++i)
      slowest[i] = std::max(slowest[i], rank[i]);
  char text[120];
  std::snprintf(text, sizeof text, "steps of one rank take %.3g times as long in the mean",
                mean(scatter.front()));
  if (scatter.size() == 1)
    return text;
  char others[80];
  std::snprintf(others, sizeof others, ", the slowest of %zu ranks' %.3g times", scatter.size(),
                mean(slowest));
  return std::string(text) + others;
}

std::string profileSummary(const MeasuredProfile &m) {
  using files::formatSeconds;
  std::string text = m.model + ", batch " + std::to_string(m.profile.batch.value_or(0)) +
                     " a rank: " + std::to_string(m.steps) + " steps of " + formatSeconds(m.step) +
                     " (spread " + formatSeconds(m.spread) + ")" +
                     (m.steady ? "" : ", still changing when time was up") + "\n";
  text += std::to_string(m.profile.operations.size()) + " nodes: forward " +
          formatSeconds(m.forward) + ", backward " + formatSeconds(m.backward) + ", updates " +
          formatSeconds(m.updates);
  char rate[40];
  std::snprintf(rate, sizeof rate, " (%.3g ns/B)", m.profile.update.value_or(0) * 1e9);
  text += (m.profile.update ? rate : "") + std::string("\n");
  text += "operations add up to " + formatSeconds(m.operations) + ", " +
          report::percent(m.step > 0 ? m.operations / m.step : 0) + " of the step" +
          describe(m.kind) +
          (m.addsUp() ? "" : "; expected it within 2 %: the profile is not to be trusted") + "\n";
  text += "a step takes " + formatSeconds(m.profile.overhead.value_or(0)) +
          " more than its operations\n";
  if (!m.profile.scatter.empty())
    text += scatterText(m.profile.scatter) + "\n";
  return text;
}

} // namespace syncline::profile
