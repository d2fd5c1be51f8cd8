// Reading lengths.json and comparing the plans.
#include "runtime/run/lengths/PlanLengths.h"

#include "runtime/run/lengths/PlanList.h"
#include "syncline/PlanFiles.h"

namespace syncline::run {

Result<PlanLengths> loadLengths(const Plan &own) {
  SYNCLINE_TRY_GET(read, readPlanList(own, lengthsFile));
  if (!*read)
    return PlanLengths();
  const PlanList &list = **read;
  if (own.overlapsSteps || own.consistency.isLocal() || own.consistency.isServed())
    return Status::badInput("'" + list.path +
                            "': steps of several lengths wait for their own gradients");
  PlanLengths lengths;
  lengths.hash = list.hash;
  std::vector<std::int64_t> sizes;
  std::vector<data::SampleFormat> formats;
  for (const ListedPlan &listed : list.plans) {
    const bool isOwn = listed.folder == ".";
    if (!isOwn) {
      SYNCLINE_TRY_GET(plan, loadPlan(own.file(listed.folder)));
      SYNCLINE_TRY(expectAlike(own, *plan));
      lengths.smaller.push_back(std::move(*plan));
    }
    const Plan &plan = isOwn ? own : lengths.smaller.back();
    SYNCLINE_TRY(expectListed(plan, list, listed));
    sizes.push_back(listed.size);
    formats.push_back(plan.sampleFormat());
  }
  Result<data::Lengths> samples =
      data::Lengths::create(list.dimension, std::move(sizes), std::move(formats));
  if (!samples)
    return Status::badInput("'" + list.path + "': " + samples.status().message());
  lengths.samples = std::move(*samples);
  return lengths;
}

} // namespace syncline::run
