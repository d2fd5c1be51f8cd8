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

/// The values less the median of the nine around each. What all ranks of a machine share, such as a
/// processor that clocks down for some seconds, falls out. What makes one rank late stays.
Series aroundTrend(const Series &values) {
  constexpr std::size_t reach = 4;
  Series left;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(i - std::min(i, reach));
    const auto last =
        values.begin() + static_cast<std::ptrdiff_t>(std::min(i + reach + 1, values.size()));
    left.push_back(values[i] - quantile(Series(first, last), 0.5));
  }
  return left;
}

/// The median of the slowest of `count` steps, which share a trend.
double medianOfSlowest(const Series &steps, int count) {
  return quantile(steps, 0.5) + quantile(aroundTrend(steps), std::pow(0.5, 1.0 / count));
}

MeasuredProfile measure(const Json &json, int ranks, bool sharesProcessors) {
  if (json.at("schema") != 1)
    throw report::SchemaError{"expected schema 1, got " + json.at("schema").dump()};
  MeasuredProfile measured;
  measured.model = json.at("name").get<std::string>();
  measured.profile.batch = json.at("batch").get<std::int64_t>();
  measured.steady = json.at("steady").get<bool>();
  const Times times = sorted(json);
  measured.steps = times.steps.size();
  measured.spread = spreadOf(times.steps);
  measured.ranks = ranks;
  if (sharesProcessors) {
    measured.kind = MeasuredProfile::Kind::means;
    fill(measured, times, mean);
    return measured;
  }
  fill(measured, times, [](const Series &values) { return quantile(values, 0.5); });
  if (!measured.addsUp()) {
    measured.kind = MeasuredProfile::Kind::middle;
    fill(measured, times, Midmean(times.steps));
  }
  measured.profile.overhead = std::max(*measured.profile.overhead,
                                       medianOfSlowest(times.whole, ranks) - measured.operations);
  return measured;
}

} // namespace

bool MeasuredProfile::addsUp() const { return std::fabs(operations - step) <= 0.02 * step; }

Result<MeasuredProfile> profileOfTimes(const Json &times, int ranks, bool sharesProcessors) {
  MeasuredProfile measured;
  Result<std::string> done = report::guarded([&] {
    measured = measure(times, ranks, sharesProcessors);
    return std::string();
  });
  if (!done)
    return done.status();
  return measured;
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
          " more than its operations" +
          (m.ranks > 1 && m.kind != MeasuredProfile::Kind::means
               ? ", where " + std::to_string(m.ranks) + " ranks wait for the slowest"
               : "") +
          "\n";
  return text;
}

} // namespace syncline::profile
