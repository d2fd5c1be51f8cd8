// Chooses which size of DDP buckets to advise.
#include "frontend/report/AdviceReport.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/report/PlanText.h"
#include "frontend/report/SweepReport.h"
#include "frontend/report/Table.h"

#include <algorithm>
#include <cmath>

namespace syncline::report {

namespace {

using files::formatSeconds;

constexpr double mebibyte = 1 << 20, defaultBytes = 25 * mebibyte;

/// The distance of a size from DDP's default, in doublings.
double distance(const sweep::SweepPoint &point) {
  return std::fabs(std::log2(point.value / defaultBytes));
}

const sweep::SweepPoint &bestOf(const std::vector<sweep::SweepPoint> &points) {
  constexpr double equal = 1.001;
  const double shortest = std::ranges::min_element(points, {}, &sweep::SweepPoint::step)->step;
  const sweep::SweepPoint *best = nullptr;
  for (const sweep::SweepPoint &point : points)
    if (point.step <= shortest * equal && (!best || distance(point) < distance(*best)))
      best = &point;
  return *best;
}

std::string sizeText(double bytes) { return std::to_string(std::llround(bytes / mebibyte)); }

std::string rateText(const sweep::SweepPoint &point) {
  const double rate = throughputOf(point).samplesPerSecond();
  return rate > 0 ? formatRate(rate) : "-";
}

} // namespace

std::vector<double> ddpSizes(std::int64_t gradientBytes) {
  std::vector<double> sizes;
  for (double power = 1;; power *= 10)
    for (double digits : {1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.5}) {
      const double size = digits * power;
      if (size != std::floor(size))
        continue;
      sizes.push_back(size * mebibyte);
      if (size >= 25 && sizes.back() >= static_cast<double>(gradientBytes))
        return sizes;
    }
}

std::string ddpAdvice(const sweep::Sweep &sizes, const sweep::SweepPoint &plan,
                      std::int64_t gradientBytes) {
  const sweep::SweepPoint &best = bestOf(sizes.points);
  Table table({{"DistributedDataParallel with"},
               {"step", Align::right},
               {"samples/s", Align::right},
               {"efficiency", Align::right},
               {"messages", Align::right}});
  auto add = [&](const std::string &name, const sweep::SweepPoint &point) {
    table.addRow({name, formatSeconds(point.step, 4), rateText(point),
                  percent(throughputOf(point).efficiency()), std::to_string(point.messageCount())});
  };
  add("bucket_cap_mb=" + sizeText(best.value), best);
  const auto usual = std::ranges::find(sizes.points, defaultBytes, &sweep::SweepPoint::value);
  if (usual != sizes.points.end() && best.value != defaultBytes)
    add("bucket_cap_mb=25, its default", *usual);
  add("this plan, run by syncline", plan);
  std::string text =
      table.toString() +
      "\nDDP's buckets are those of planner ddp:SIZE: backward order, the first up to 1 MiB, the "
      "others up to SIZE; all\nsteps are simulated on the plan's cluster, with the plan's times of "
      "operations\n" +
      std::string(throughputMeaning) + "\n\n";
  text += best.value == defaultBytes
              ? "keep the default: no other size is predicted to be more than 0.1 % faster\n"
              : "DistributedDataParallel(model, bucket_cap_mb=" + sizeText(best.value) + ")\n";
  return text + "gradient_as_bucket_view=True takes " + files::formatBytes(gradientBytes) +
         " less memory, a copy of all gradients; the step's prediction does not depend on it\n";
}

} // namespace syncline::report
