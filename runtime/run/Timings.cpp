// Medians of the traced steps as text.
#include "runtime/run/Timings.h"

#include "runtime/core/Statistics.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace syncline::run {

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
