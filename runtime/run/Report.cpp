// Printing progress, summaries and tables.
#include "runtime/run/Report.h"

#include "runtime/core/Clipping.h"
#include "runtime/core/Statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <numeric>
#include <sys/resource.h>
#include <unistd.h>

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
  char text[64];
  if (bytes < 1e4)
    std::snprintf(text, sizeof text, "%.0f B", bytes);
  else
    std::snprintf(text, sizeof text, "%.1f %s", bytes < 1e7 ? bytes / 1e3 : bytes / 1e6,
                  bytes < 1e7 ? "kB" : "MB");
  return text;
}

/// "0:07", "12:30", "3:04:05".
std::string timeText(double seconds) {
  const auto whole = static_cast<long long>(std::lround(seconds));
  char text[64];
  if (whole < 3600)
    std::snprintf(text, sizeof text, "%lld:%02lld", whole / 60, whole % 60);
  else
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60,
                  whole % 60);
  return text;
}

/// "waiting for samples 0.02 ms, ".
std::string waitedText(double seconds) {
  char text[64];
  std::snprintf(text, sizeof text, "waiting for samples %.2f ms, ", seconds * 1e3);
  return text;
}

/// A number, or null for NaN and infinity, which JSON cannot represent.
nlohmann::json number(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(std::to_string(value));
}

double ratio(double a, std::int64_t b) { return b > 0 ? a / static_cast<double>(b) : 0; }

void addScore(nlohmann::ordered_json &line, const Score &score) {
  line["test_loss"] = number(ratio(score.lossSum, score.losses));
  if (score.predictions > 0)
    line["test_accuracy"] = ratio(static_cast<double>(score.correct), score.predictions);
}

/// "test accuracy 97.22 % (350 of 360), test loss 0.0912"
std::string scoreText(const Score &score) {
  const double loss = ratio(score.lossSum, score.losses);
  char text[160];
  if (score.predictions > 0)
    std::snprintf(text, sizeof text, "test accuracy %.2f %% (%lld of %lld), test loss %.4f",
                  100 * ratio(static_cast<double>(score.correct), score.predictions),
                  static_cast<long long>(score.correct), static_cast<long long>(score.predictions),
                  loss);
  else
    std::snprintf(text, sizeof text, "test loss %.6f", loss);
  return text;
}

} // namespace

Report::Report(const Plan &plan, const launch::RunShape &shape, bool json, bool quiet,
               const RunLength &length)
    : plan(plan), shape(shape), json(json), quiet(quiet), terminal(isatty(2)), length(length) {}

void Report::note(const std::string &text) {
  if (!quiet)
    std::fprintf(stderr, "%ssyncline-run: %s\n", isLineOpen ? "\n" : "", text.c_str());
  isLineOpen = false;
}

void Report::stop(int signal, std::int64_t completed) {
  stopSignal = signal;
  note("stopped by signal " + std::to_string(signal) + " after " + std::to_string(completed) +
       " of " + std::to_string(length.steps) + " steps");
}

void Report::resume(const Resumed &from) {
  first = from.step;
  lossSum = from.lossSum;
  losses = from.losses;
}

double Report::samplesPerSecond(double seconds) const {
  return seconds > 0 ? static_cast<double>(plan.batch) * shape.ranks / seconds : 0;
}

void Report::addStep(const StepTimes &times) {
  secondsSoFar += steps.empty() ? 0 : times.seconds;
  steps.push_back(times);
}

double Report::remainingSeconds() const {
  const auto done = static_cast<std::int64_t>(steps.size());
  const double mean =
      done > 1 ? secondsSoFar / static_cast<double>(done - 1) : steps.front().seconds;
  return mean * static_cast<double>(length.steps - first - done);
}

void Report::addToMean(std::int64_t step, double loss) {
  if (length.perEpoch > 0 && step % length.perEpoch == 0) {
    lossSum = 0;
    losses = 0;
  }
  lossSum += loss;
  ++losses;
}

void Report::addLoss(const EarlierLoss &earlier) {
  lastLoss = earlier.loss;
  for (std::int64_t step = earlier.firstStep(); step <= earlier.step; ++step) {
    addToMean(step, earlier.loss);
    if (quiet)
      continue;
    if (json)
      tellJson(step, earlier.loss);
    else
      tellText(step, earlier.loss);
  }
}

void Report::tellJson(std::int64_t step, double loss) const {
  const StepTimes &t = steps[static_cast<std::size_t>(step - first)];
  nlohmann::ordered_json line{{"step", step}};
  if (length.perEpoch > 0)
    line["epoch"] = step / length.perEpoch;
  line["loss"] = number(loss);
  line["mean_loss"] = number(lossSum / static_cast<double>(losses));
  line["rate"] = t.rate;
  line["seconds"] = t.seconds;
  line["samples_per_second"] = samplesPerSecond(t.seconds);
  line["exposed_seconds"] = t.exposed;
  if (t.data)
    line["data_seconds"] = *t.data;
  line["remaining_seconds"] = remainingSeconds();
  if (t.moved) {
    line["bytes_sent"] = t.moved->sent;
    line["bytes_received"] = t.moved->received;
  }
  if (std::isfinite(clipNorm))
    line["gradient_norm"] = number(t.gradientNorm);
  std::cout << line.dump() << std::endl;
}

std::optional<std::int64_t> Report::clippedSteps() const {
  if (!std::isfinite(clipNorm))
    return std::nullopt;
  return std::ranges::count_if(
      steps, [this](const StepTimes &t) { return core::clipFactor(t.gradientNorm, clipNorm) < 1; });
}

void Report::tellText(std::int64_t step, double loss) {
  // A terminal is updated often; a log file gets a line every few seconds.
  const bool last = step + 1 == length.steps;
  if (!last && core::secondsSince(lastShown) < (terminal ? 0.2 : 5))
    return;
  lastShown = core::Clock::now();
  const StepTimes &t = steps[static_cast<std::size_t>(step - first)];
  std::string epoch;
  if (length.perEpoch > 0)
    epoch = ", epoch " + std::to_string(step / length.perEpoch + 1) + " of " +
            std::to_string((length.steps + length.perEpoch - 1) / length.perEpoch);
  char rate[32] = "";
  if (length.hasRates)
    std::snprintf(rate, sizeof rate, "  rate %.4g", t.rate);
  std::fprintf(
      stderr,
      "%s%lld of %lld steps%s  loss %.4f, mean%s %.4f%s  %.1f samples/s  exposed %.2f ms%s%s",
      terminal ? "\r\033[K" : "", static_cast<long long>(step + 1),
      static_cast<long long>(length.steps), epoch.c_str(), loss,
      epoch.empty() ? "" : " of the epoch", lossSum / static_cast<double>(losses), rate,
      samplesPerSecond(t.seconds), t.exposed * 1e3,
      last ? "" : ("  " + timeText(remainingSeconds()) + " left").c_str(),
      terminal && !last ? "" : "\n");
  isLineOpen = terminal && !last;
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
  const auto secondsOf = [](const StepTimes &t) { return t.seconds; };
  const auto exposedOf = [](const StepTimes &t) { return t.exposed; };
  const auto dataOf = [](const StepTimes &t) { return t.data.value_or(0); };
  const bool readsData = !steps.empty() && steps.front().data;
  const double data = isMean ? meanOf(steps, dataOf) : medianOf(steps, dataOf);
  double seconds = isMean ? meanOf(steps, secondsOf) : medianOf(steps, secondsOf);
  double exposed = isMean ? meanOf(steps, exposedOf) : medianOf(steps, exposedOf);
  const std::string kind = isMean ? "mean" : "median";
  if (json) {
    nlohmann::ordered_json line{{"summary", true},
                                {"steps", steps.size()},
                                {"ranks", shape.ranks},
                                {"servers", shape.servers},
                                {kind + "_step_seconds", seconds},
                                {"samples_per_second", samplesPerSecond(seconds)},
                                {kind + "_exposed_seconds", exposed},
                                {"predicted_step_seconds", plan.predictedStep}};
    if (readsData)
      line[kind + "_data_seconds"] = data;
    if (traffic) {
      line["median_bytes_sent"] = traffic->sent;
      line["median_bytes_received"] = traffic->received;
    }
    line["predicted_traffic_bytes"] = plan.predictedTraffic;
    line["peak_memory_bytes"] = peakBytes;
    if (lastLoss)
      line["loss"] = number(drift ? drift->result.loss : *lastLoss);
    if (clippedSteps())
      line["clipped_steps"] = *clippedSteps();
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
    std::cout << line.dump() << std::endl;
    return;
  }
  if (!steps.empty())
    std::fprintf(stderr,
                 "%zu steps on %d rank%s: %s step %.2f ms (predicted %.2f ms), %.1f samples/s, "
                 "exposed communication %.2f ms, %speak memory %.0f MiB a rank\n",
                 steps.size(), shape.ranks, shape.ranks == 1 ? "" : "s", kind.c_str(),
                 seconds * 1e3, plan.predictedStep * 1e3,
                 drift ? drift->result.samplesPerSecond : samplesPerSecond(seconds), exposed * 1e3,
                 readsData ? waitedText(data).c_str() : "",
                 static_cast<double>(peakBytes) / 1048576);
  if (!steps.empty() && shape.ranks > 1 && traffic)
    std::fprintf(stderr,
                 "a step sends %s from the busiest rank and receives %s, %s together (predicted "
                 "%s)\n",
                 sizeText(static_cast<double>(traffic->sent)).c_str(),
                 sizeText(static_cast<double>(traffic->received)).c_str(),
                 sizeText(static_cast<double>(traffic->sent + traffic->received)).c_str(),
                 sizeText(plan.predictedTraffic).c_str());
  if (const auto clipped = clippedSteps(); clipped)
    std::fprintf(stderr, "the gradients' norm exceeded %g in %lld of %zu steps and was clipped\n",
                 clipNorm, static_cast<long long>(*clipped), steps.size());
  if (drift)
    tellDrift();
  if (checkpoints.count > 0)
    std::fprintf(stderr, "%s\n", checkpoints.text().c_str());
  if (score)
    std::fprintf(stderr, "%s\n", scoreText(*score).c_str());
}

void Report::addTest(std::int64_t step, const Score &score) {
  if (!json)
    return note("after " + std::to_string(step + 1) + " steps: " + scoreText(score));
  nlohmann::ordered_json line{{"test", true}, {"step", step}};
  addScore(line, score);
  if (!quiet)
    std::cout << line.dump() << std::endl;
}

TrainingResult Report::own() const {
  const double seconds = meanOf(steps, [](const StepTimes &t) { return t.seconds; });
  return {lastLoss.value_or(0), seconds > 0 ? static_cast<double>(plan.batch) / seconds : 0};
}

void Report::addDrift(const Drift &all, const std::vector<transport::Verdict> &ranks) {
  tellLost(ranks);
  drift = all;
}

void Report::tellLost(const std::vector<transport::Verdict> &ranks) {
  for (const transport::Verdict &v : ranks)
    if (std::ranges::find(lost, v.rank) == lost.end()) {
      lost.push_back(v.rank);
      note("lost " + v.describe(core::RankNames{shape.ranks}) + "; training goes on without it");
    }
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

std::int64_t peakMemoryBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

void printTimings(const Plan &plan, const core::StepRunner &runner, const Trainer &trainer) {
  auto operations = runner.operations();
  std::vector<double> ms;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    std::vector<double> seconds;
    for (const StepRecord &record : trainer.records())
      seconds.push_back(record.operations[i].seconds());
    ms.push_back(core::median(std::move(seconds)) * 1e3);
  }
  std::vector<std::size_t> order(ms.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return ms[a] > ms[b]; });
  double sum = std::accumulate(ms.begin(), ms.end(), 0.0);
  std::fprintf(stderr, "%10s %6s  %-20s %-10s %-36s %s\n", "ms", "%", "operation", "phase", "layer",
               "implementation");
  for (std::size_t i : order) {
    const core::OperationInfo &op = operations[i];
    std::string layer = op.bucket >= 0 ? "bucket " + std::to_string(op.bucket) : op.layer;
    std::string how = op.implementation;
    if (op.reorders > 0)
      how += " +" + std::to_string(op.reorders) + " reorders";
    std::fprintf(stderr, "%10.3f %6.2f  %-20s %-10s %-36s %s\n", ms[i],
                 sum > 0 ? 100 * ms[i] / sum : 0, op.name.c_str(), op.phase.c_str(), layer.c_str(),
                 how.c_str());
  }
  std::fprintf(stderr, "%10.3f         all operations\n", sum);
  if (trainer.bucketTimings().empty())
    return;
  std::fprintf(stderr, "buckets of the last step, ms from its beginning (predicted in brackets)\n");
  for (const core::BucketTiming &t : trainer.bucketTimings())
    for (const PlanBucket &b : plan.buckets)
      if (b.id == t.bucket) {
        const bool isSecond = t.half == core::Half::second && b.allGather;
        const PlanBucket::Times expected =
            isSecond ? *b.allGather : PlanBucket::Times{b.ready, b.start, b.end};
        std::fprintf(stderr,
                     "bucket %-4d ready %9.3f [%9.3f]  start %9.3f [%9.3f]  end %9.3f [%9.3f]%s\n",
                     t.bucket, t.issued * 1e3, expected.ready * 1e3, t.started * 1e3,
                     expected.start * 1e3, t.finished * 1e3, expected.end * 1e3,
                     isSecond                      ? "  all-gather"
                     : t.half == core::Half::first ? "  reduce-scatter"
                                                   : "");
      }
}

} // namespace syncline::run
