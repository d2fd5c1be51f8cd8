// Reading batches.json and comparing the plans.
#include "runtime/run/lengths/PlanBatches.h"

#include "runtime/run/lengths/PlanList.h"
#include "syncline/PlanFiles.h"

#include <algorithm>

namespace syncline::run {
namespace {

/// The share of rank `rank`. Throws SchemaError where the ranks are not the plan's, or a batch is
/// that of no plan.
data::BatchShare shareOf(const PlanList &list, const Plan &own, int rank) {
  constexpr std::int64_t largest = std::int64_t{1} << 40;
  data::BatchShare share{.first = -1, .all = 0};
  std::int64_t ranks = 0;
  for (const Json &group : get<Json::array_t>(list.document, "ranks")) {
    const std::int64_t count = size(group, "count", 1), batch = size(group, "batch", 1, largest);
    if (count > own.ranks - ranks)
      throw SchemaError{"expected " + std::to_string(own.ranks) + " ranks, got more"};
    if (std::ranges::find(list.plans, batch, &ListedPlan::size) == list.plans.end())
      throw SchemaError{"no plan has the batch " + std::to_string(batch)};
    if (rank >= ranks && rank < ranks + count)
      share = {.first = share.all + (rank - ranks) * batch, .count = batch, .all = share.all};
    ranks += count;
    share.all += count * batch;
  }
  if (ranks != own.ranks)
    throw SchemaError{"expected " + std::to_string(own.ranks) + " ranks, got " +
                      std::to_string(ranks)};
  return share;
}

bool gathers(const Plan &plan) {
  return std::ranges::any_of(plan.buckets,
                             [](const PlanBucket &bucket) { return isGathered(bucket.scheme); });
}

} // namespace

Result<PlanBatches> loadBatches(const Plan &own, int rank) {
  SYNCLINE_TRY_GET(read, readPlanList(own, batchesFile));
  PlanBatches batches{.share = data::BatchShare::ofEqual(own.ranks, rank, own.batch)};
  if (!*read)
    return batches;
  const PlanList &list = **read;
  const auto bad = [&](const std::string &what) {
    return Status::badInput("'" + list.path + "': " + what);
  };
  if (own.overlapsSteps || own.consistency.isLocal() || own.consistency.isServed() || gathers(own))
    return bad("ranks of unequal batches sum gradients within their step");
  try {
    batches.share = shareOf(list, own, rank);
  } catch (const SchemaError &e) {
    return bad(e.message);
  }
  batches.hash = list.hash;
  for (const ListedPlan &listed : list.plans) {
    const bool isOwn = listed.folder == ".";
    if (!isOwn && listed.size != batches.share.count)
      continue;
    SYNCLINE_TRY_GET(plan, isOwn ? Result<Plan>(own) : loadPlan(own.file(listed.folder)));
    SYNCLINE_TRY(expectListed(*plan, list, listed));
    SYNCLINE_TRY(expectAlike(own, *plan, /*unequal=*/true));
    if (plan->batch != listed.size)
      return bad("the plan '" + plan->folder + "' has the batch " + std::to_string(plan->batch) +
                 ", expected " + std::to_string(listed.size));
    if (!isOwn)
      batches.smaller = std::move(*plan);
  }
  return batches;
}

} // namespace syncline::run
