// The end of a report: what the steps took together.
#include "runtime/core/Clipping.h"
#include "runtime/core/Formatted.h"
#include "runtime/core/Statistics.h"
#include "runtime/run/Report.h"
#include "runtime/run/ReportText.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>

#include <nlohmann/json.hpp>

namespace syncline::run {
namespace {

/// The median over all steps but the first, which fills caches and pages and is not typical.
template <typename F> double medianOf(const std::vector<StepTimes> &steps, F &&f) {
  std::vector<double> values;
  for (std::size_t i = steps.size() > 1 ? 1 : 0; i < steps.size(); ++i)
    values.push_back(f(steps[i]));
  return core::median(values);
}

/// As medianOf, but the mean: steps of local updates differ by design.
template <typename F> double meanOf(const std::vector<StepTimes> &steps, F &&f) {
  double sum = 0;
  const std::size_t first = steps.size() > 1 ? 1 : 0;
  for (std::size_t i = first; i < steps.size(); ++i)
    sum += f(steps[i]);
  return steps.empty() ? 0 : sum / static_cast<double>(steps.size() - first);
}

/// "812 B", "40.2 kB", "1234.5 MB".
std::string sizeText(double bytes) {
  if (bytes < 1e4)
    return core::formatted("%.0f B", bytes);
  return bytes < 1e7 ? core::formatted("%.1f kB", bytes / 1e3)
                     : core::formatted("%.1f MB", bytes / 1e6);
}

/// "1.25 ms".
std::string millisecondsText(double seconds) { return core::formatted("%.2f ms", seconds * 1e3); }

/// "waiting for samples 0.02 ms, ".
std::string waitedText(double seconds) {
  return "waiting for samples " + millisecondsText(seconds) + ", ";
}

} // namespace

std::optional<std::int64_t> Report::clippedSteps() const {
  if (!std::isfinite(clipNorm))
    return std::nullopt;
  return std::ranges::count_if(
      steps, [this](const StepTimes &t) { return core::clipFactor(t.gradientNorm, clipNorm) < 1; });
}

std::int64_t Report::skippedSteps() const {
  return std::ranges::count(steps, true, &StepTimes::isSkipped);
}

TrainingResult Report::own() const {
  const double seconds = meanOf(steps, [](const StepTimes &t) { return t.seconds; });
  return {lastLoss.value_or(0), seconds > 0 ? samplesOfRank() / seconds : 0};
}

std::optional<transport::Traffic> Report::medianTraffic() const {
  std::vector<double> sent, received;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (steps[i].moved && (i > 0 || steps.size() == 1)) {
      sent.push_back(static_cast<double>(steps[i].moved->sent));
      received.push_back(static_cast<double>(steps[i].moved->received));
    }
  if (sent.empty())
    return rest;
  return transport::Traffic{static_cast<std::int64_t>(core::median(std::move(sent))),
                            static_cast<std::int64_t>(core::median(std::move(received)))};
}

void Report::finish(std::int64_t peakBytes, const std::optional<transport::Traffic> &traffic,
                    const std::optional<Score> &score) {
  if (quiet)
    return;
  const bool isMean = plan.consistency.isLocal();
  const auto typical = [&](auto &&f) { return isMean ? meanOf(steps, f) : medianOf(steps, f); };
  Totals totals{isMean ? "mean" : "median",
                typical([](const StepTimes &t) { return t.seconds; }),
                typical([](const StepTimes &t) { return t.exposed; }),
                {},
                {},
                peakBytes,
                traffic};
  if (plan.predictsMean && !isMean)
    totals.mean = meanOf(steps, [](const StepTimes &t) { return t.seconds; });
  if (!steps.empty() && steps.front().data)
    totals.data = typical([](const StepTimes &t) { return t.data.value_or(0); });
  if (json)
    tellJson(totals, score);
  else
    tellText(totals, score);
}

void Report::tellJson(const Totals &total, const std::optional<Score> &score) const {
  nlohmann::ordered_json line{{"summary", true},
                              {"steps", steps.size()},
                              {"ranks", shape.ranks},
                              {"servers", shape.servers},
                              {total.kind + "_step_seconds", total.seconds},
                              {"samples_per_second", samplesPerSecond(total.seconds)},
                              {total.kind + "_exposed_seconds", total.exposed}};
  if (total.mean)
    line["mean_step_seconds"] = *total.mean;
  if (const auto predicted = plan.stepOf(length.microBatches))
    line["predicted_step_seconds"] = *predicted;
  if (total.data)
    line[total.kind + "_data_seconds"] = *total.data;
  if (total.traffic) {
    line["median_bytes_sent"] = total.traffic->sent;
    line["median_bytes_received"] = total.traffic->received;
  }
  line["predicted_traffic_bytes"] = plan.trafficOf(length.microBatches);
  line["peak_memory_bytes"] = total.peakBytes;
  if (lastLoss)
    line["loss"] = number(drift ? drift->result.loss : *lastLoss);
  if (clippedSteps())
    line["clipped_steps"] = *clippedSteps();
  if (hasLossScale)
    line["skipped_steps"] = skippedSteps();
  if (drift) {
    line["samples_per_second"] = drift->result.samplesPerSecond;
    line["largest_lead"] = drift->counts.largestLead;
    line["largest_staleness"] = drift->counts.largestStaleness;
    line["mean_staleness"] =
        ratio(static_cast<double>(drift->counts.staleness), drift->counts.steps);
    line["waiting_seconds"] = drift->counts.waited / drift->ranks;
    if (!lost.empty())
      line["lost_ranks"] = lost;
  }
  if (score)
    addScore(line, *score);
  if (stopSignal != 0)
    line["stopped_by_signal"] = stopSignal;
  if (first > 0)
    line["resumed_at"] = first;
  checkpoints.addTo(line);
  for (const core::KernelChoice::Kernel &kernel : kernels)
    line["kernels"].push_back({{"operation", kernel.operation},
                               {"layer", kernel.layer},
                               {"kernel", kernel.kernel},
                               {"seconds", kernel.seconds}});
  std::cout << line.dump() << std::endl;
}

void Report::tellText(const Totals &total, const std::optional<Score> &score) const {
  const auto predicted = [](const std::string &text) { return " (predicted " + text + ")"; };
  std::string step;
  if (const auto seconds = plan.stepOf(length.microBatches))
    step = total.mean ? " (mean " + millisecondsText(*total.mean) + ", predicted mean " +
                            millisecondsText(*seconds) + ")"
                      : predicted(millisecondsText(*seconds));
  if (!steps.empty())
    std::fprintf(stderr,
                 "%zu steps on %d rank%s: %s step %.2f ms%s, %.1f samples/s, "
                 "exposed communication %.2f ms, %speak memory %.0f MiB a rank\n",
                 steps.size(), shape.ranks, shape.ranks == 1 ? "" : "s", total.kind.c_str(),
                 total.seconds * 1e3, step.c_str(),
                 drift ? drift->result.samplesPerSecond : samplesPerSecond(total.seconds),
                 total.exposed * 1e3, total.data ? waitedText(*total.data).c_str() : "",
                 static_cast<double>(total.peakBytes) / 1048576);
  if (!steps.empty() && shape.ranks > 1 && total.traffic)
    std::fprintf(
        stderr, "a step sends %s from the busiest rank and receives %s, %s together%s\n",
        sizeText(static_cast<double>(total.traffic->sent)).c_str(),
        sizeText(static_cast<double>(total.traffic->received)).c_str(),
        sizeText(static_cast<double>(total.traffic->sent + total.traffic->received)).c_str(),
        predicted(sizeText(plan.trafficOf(length.microBatches))).c_str());
  if (const auto clipped = clippedSteps(); clipped)
    std::fprintf(stderr, "the gradients' norm exceeded %g in %lld of %zu steps and was clipped\n",
                 clipNorm, static_cast<long long>(*clipped), steps.size());
  if (hasLossScale && !steps.empty())
    std::fprintf(stderr,
                 "%lld of %zu steps were skipped, because gradients were not finite; the loss's "
                 "scale was %g in the last one\n",
                 static_cast<long long>(skippedSteps()), steps.size(), steps.back().lossScale);
  if (drift)
    tellDrift();
  if (checkpoints.count > 0)
    std::fprintf(stderr, "%s\n", checkpoints.text().c_str());
  if (score)
    std::fprintf(stderr, "%s\n", scoreText(*score).c_str());
}

void Report::tellDrift() const {
  const core::DriftCounts &c = drift->counts;
  const auto number = [](std::int64_t n) { return static_cast<long long>(n); };
  std::fprintf(stderr,
               "'%s': largest lead %lld steps, staleness %.2f steps in the mean and %lld at most, "
               "%.1f s of waiting a rank, mean of the ranks' last losses %.4f\n",
               plan.consistency.text.c_str(), number(c.largestLead),
               c.steps > 0 ? static_cast<double>(c.staleness) / static_cast<double>(c.steps) : 0,
               number(c.largestStaleness), c.waited / drift->ranks, drift->result.loss);
}

} // namespace syncline::run
