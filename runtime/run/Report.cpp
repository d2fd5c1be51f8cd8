// Printing progress.
#include "runtime/run/Report.h"

#include "runtime/core/Formatted.h"
#include "runtime/launch/ProgressLine.h"
#include "runtime/run/ReportText.h"
#include "syncline/Printable.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace syncline::run {
namespace {

/// "0:07", "12:30", "3:04:05".
std::string timeText(double seconds) {
  const auto whole = static_cast<long long>(std::lround(seconds));
  if (whole < 3600)
    return core::formatted("%lld:%02lld", whole / 60, whole % 60);
  return core::formatted("%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60, whole % 60);
}

} // namespace

Report::Report(const Plan &plan, const launch::RunShape &shape, bool json, bool quiet,
               const RunLength &length)
    : plan(plan), shape(shape), json(json), quiet(quiet), terminal(isatty(2)), length(length) {}

void Report::note(const std::string &text) {
  if (!quiet)
    std::fprintf(stderr, "%ssyncline-run: %s\n", isLineOpen ? "\n" : "", printable(text).c_str());
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
  const double samples =
      length.samples > 0 ? static_cast<double>(length.samples) : samplesOfRank() * shape.ranks;
  return seconds > 0 ? samples / seconds : 0;
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
  if (hasLossScale) {
    line["loss_scale"] = t.lossScale;
    line["skipped"] = t.isSkipped;
  }
  std::cout << line.dump() << std::endl;
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
  const std::string rate = length.hasRates ? core::formatted("  rate %.4g", t.rate) : "";
  const std::string line = core::formatted(
      "%lld of %lld steps%s  loss %.4f, mean%s %.4f%s  %.1f samples/s  exposed %.2f ms%s",
      static_cast<long long>(step + 1), static_cast<long long>(length.steps), epoch.c_str(), loss,
      epoch.empty() ? "" : " of the epoch", lossSum / static_cast<double>(losses), rate.c_str(),
      samplesPerSecond(t.seconds), t.exposed * 1e3,
      last ? "" : ("  " + timeText(remainingSeconds()) + " left").c_str());
  isLineOpen = terminal && !last;
  std::fprintf(stderr, "%s%s%s", terminal ? "\r\033[K" : "",
               (isLineOpen ? launch::fittedToTerminal(line) : line).c_str(),
               isLineOpen ? "" : "\n");
}

void Report::addTest(std::int64_t step, const Score &score) {
  if (!json)
    return note("after " + std::to_string(step + 1) + " steps: " + scoreText(score));
  nlohmann::ordered_json line{{"test", true}, {"step", step}};
  addScore(line, score);
  if (!quiet)
    std::cout << line.dump() << std::endl;
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

} // namespace syncline::run
