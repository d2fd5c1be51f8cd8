// Chooses which size of DDP buckets to advise.
#include "frontend/report/AdviceReport.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/report/DdpBuckets.h"
#include "frontend/report/PlanText.h"
#include "frontend/report/SweepReport.h"
#include "frontend/report/Table.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace syncline::report {

namespace {

using files::formatSeconds;

constexpr double defaultBytes = 25 * mebibyte;

/// The distance of a size from DDP's default, in doublings.
double distance(const sweep::SweepPoint &point) {
  return std::fabs(std::log2(point.value / defaultBytes));
}

constexpr double equal = 1.001; ///< steps whose ratio is at most this count as equal
constexpr const char *plainHook = "allreduce_hook";

const sweep::SweepPoint &bestOf(const std::vector<sweep::SweepPoint> &points) {
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

/// The buckets of a step by ddp-list, which are successive modules.
BucketBytes bucketsOf(const sweep::SweepPoint &list, const std::vector<ModuleBytes> &modules) {
  BucketBytes buckets;
  std::size_t gradient = 0;
  for (const ModuleBytes &module : modules) {
    if (gradient == 0 || list.messages[gradient] != list.messages[gradient - 1])
      buckets.emplace_back();
    buckets.back().push_back(module);
    gradient += module.size();
  }
  return buckets;
}

/// Cuts a byte off each layer of a trace: nobody knows of which gradients it consists, and a bucket
/// must not close before the last of them.
void cutLayers(BucketBytes &buckets) {
  for (std::vector<ModuleBytes> &bucket : buckets)
    for (ModuleBytes &layer : bucket)
      if (layer.front() > 1) {
        --layer.front();
        layer.push_back(1);
      }
}

/// What DistributedDataParallel takes and from which step on its buckets are these. With
/// find_unused_parameters it counts from the model's first parameter, in every step.
std::string listAdvice(const BucketBytes &buckets, const std::string &hook) {
  BucketBytes fromFront(buckets.rbegin(), buckets.rend());
  for (std::vector<ModuleBytes> &bucket : fromFront)
    std::ranges::reverse(bucket);
  const std::string front = bucketCaps(fromFront);
  return "with PyTorch 2.13 or newer:\n"
         "  DistributedDataParallel(model, bucket_cap_mb_list=[" +
         bucketCaps(buckets) +
         "])\n"
         "its buckets are these from the second step on, with static_graph=True from the third; "
         "with find_unused_parameters=True\nthe list counts from the model's first parameter, in "
         "every step:\n"
         "  DistributedDataParallel(model, find_unused_parameters=True, bucket_cap_mb_list=[" +
         front +
         "])\n"
         "This holds where gradients of modules are ready in the plan's order. To check that, "
         "paste "
         "into the script\nbehind DistributedDataParallel(..):\n" +
         bucketCheck(buckets, hook) + "\n";
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

std::string ddpAdvice(const DdpSteps &steps) {
  const sweep::SweepPoint &best = bestOf(steps.sizes.points);
  const bool listPays = steps.list.step * equal < best.step;
  Table table({{"DistributedDataParallel with"},
               {"step", Align::right},
               {"samples/s", Align::right},
               {"efficiency", Align::right},
               {"messages", Align::right}});
  auto add = [&](const std::string &name, const sweep::SweepPoint &point) {
    table.addRow({name, formatSeconds(point.step, 4), rateText(point),
                  percent(throughputOf(point).efficiency()), std::to_string(point.messageCount())});
  };
  if (listPays)
    add("bucket_cap_mb_list, below", steps.list);
  add("bucket_cap_mb=" + sizeText(best.value), best);
  const auto usual = std::ranges::find(steps.sizes.points, defaultBytes, &sweep::SweepPoint::value);
  if (usual != steps.sizes.points.end() && best.value != defaultBytes)
    add("bucket_cap_mb=25, its default", *usual);
  add("this plan, run by syncline", steps.plan);
  std::string text =
      table.toString() +
      "\nDDP's buckets are those of planner ddp:SIZE: backward order, up to SIZE; by default "
      "(PyTorch 1.13: always) the\nfirst up to 1 MiB; all steps are simulated on the plan's "
      "cluster, with the plan's times of operations\n" +
      std::string(throughputMeaning) + "\n" + steps.sources + "\n";
  if (steps.isTrace)
    text += "a layer of the trace counts as one module, all of whose gradients are ready at once\n";
  if (steps.hasFrozen)
    text += "parameters that the plan does not train are expected to have requires_grad=False "
            "before DistributedDataParallel(..)\n";
  if (listPays) {
    BucketBytes buckets = bucketsOf(steps.list, steps.modules);
    if (steps.isTrace)
      cutLayers(buckets);
    text += listAdvice(buckets, steps.hook);
  }
  text += listPays ? "with an older PyTorch: " : "";
  text += best.value == defaultBytes
              ? "keep the default: no other size is predicted to be more than 0.1 % faster\n"
              : "DistributedDataParallel(model, bucket_cap_mb=" + sizeText(best.value) + ")\n";
  if (steps.hook != plainHook)
    text += "and behind it model.register_comm_hook(None, default_hooks." + steps.hook +
            "): all steps are those of a plan that sends what it does\n";
  std::int64_t total = 0;
  for (const ModuleBytes &module : steps.modules)
    total = std::accumulate(module.begin(), module.end(), total);
  return text + "gradient_as_bucket_view=True takes " + files::formatBytes(total) +
         " less memory, a copy of all gradients; the step's prediction does not depend on it\n";
}

} // namespace syncline::report
