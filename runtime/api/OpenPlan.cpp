// Reading a plan for the C interface.
#include "runtime/api/OpenPlan.h"

#include <algorithm>

namespace syncline::api {
namespace {

constexpr ElementType types[] = {ElementType::f32,  ElementType::f64, ElementType::f16,
                                 ElementType::bf16, ElementType::i64, ElementType::i32};

/// Why the library does not carry messages of a scheme; empty where it does.
const char *whyNot(const run::PlanBucket &bucket) {
  if (std::ranges::find(types, bucket.type) == std::end(types))
    return "its elements have no sum";
  switch (schemeKind(bucket.scheme)) {
  case SchemeKind::allReduce:
  case SchemeKind::servers:
    if (!isCarried(bucket.scheme, /*byNccl=*/false))
      return "only NCCL has the scheme";
    return bucket.bytes % core::elementBytes(bucket.type) == 0
               ? ""
               : "its bytes are no whole number of elements";
  case SchemeKind::sharded:
    return "the scheme updates parameters between its halves";
  case SchemeKind::gathered:
    return "the scheme gathers what gradients are computed from, not gradients";
  }
  return "the scheme is unknown";
}

/// Whether halves of the message can travel with an update of shards between them.
bool isSharded(const run::PlanBucket &bucket) {
  return schemeKind(bucket.scheme) == SchemeKind::sharded &&
         std::ranges::find(types, bucket.type) != std::end(types) &&
         bucket.bytes % core::elementBytes(bucket.type) == 0;
}

syncline_message_info messageInfo(const run::PlanBucket &bucket, bool isLocal) {
  syncline_message_info info{};
  info.size = sizeof info;
  info.id = bucket.id;
  info.channel = bucket.channel;
  info.type = static_cast<int>(std::ranges::find(types, bucket.type) - std::begin(types));
  info.members = static_cast<int>(bucket.members.size());
  info.bytes = bucket.bytes;
  info.count = bucket.bytes / core::elementBytes(bucket.type);
  info.ready = bucket.ready;
  info.start = bucket.start;
  info.end = bucket.end;
  info.scheme = schemeName(bucket.scheme).data(); // which ends with a zero
  info.why_not =
      isLocal ? "by the plan's consistency gradients stay on their rank" : whyNot(bucket);
  info.is_carried = *info.why_not == '\0';
  // Rows would also need a place for their numbers.
  info.is_gathered = !isLocal && isGathered(bucket.scheme) && !hasRows(bucket.scheme);
  info.is_sharded = !isLocal && isSharded(bucket);
  return info;
}

std::vector<syncline_member_info> memberInfos(const run::PlanMessages &plan,
                                              const run::PlanBucket &bucket) {
  std::vector<syncline_member_info> infos;
  std::int64_t offset = 0;
  for (const std::string &name : bucket.members) {
    const auto found = std::ranges::find(plan.gradients, name, &run::PlanGradient::name);
    syncline_member_info info{};
    info.size = sizeof info;
    info.name = name.c_str();
    info.whole = found == plan.gradients.end() ? 0 : found->bytes;
    info.offset = offset;
    info.skipped = infos.empty() ? bucket.cut[0] : 0;
    info.bytes = info.whole - info.skipped;
    if (infos.size() + 1 == bucket.members.size())
      info.bytes -= bucket.cut[1];
    offset += info.bytes;
    infos.push_back(info);
  }
  return infos;
}

} // namespace

std::optional<ElementType> elementTypeOf(int type) {
  if (type < 0 || type >= static_cast<int>(std::size(types)))
    return std::nullopt;
  return types[type];
}

Result<std::shared_ptr<const OpenPlan>> OpenPlan::open(const std::string &folder) {
  SYNCLINE_TRY_GET(read, run::loadMessages(folder));
  SYNCLINE_TRY_GET(others, SchemeChoice::create(*read->cluster, read->ranks.ranks));
  auto made = std::make_shared<OpenPlan>();
  made->plan = std::move(*read);
  made->others = *others;
  for (const run::PlanBucket &bucket : made->plan.buckets) {
    made->messages.push_back(messageInfo(bucket, made->plan.consistency.isLocal()));
    made->members.push_back(memberInfos(made->plan, bucket));
  }
  return std::shared_ptr<const OpenPlan>(std::move(made));
}

syncline_plan_info OpenPlan::about() const {
  syncline_plan_info info{};
  info.size = sizeof info;
  info.ranks = plan.ranks.ranks;
  info.servers = plan.ranks.servers;
  info.ranks_per_node = plan.ranks.perNode;
  info.messages = count();
  info.micro_batches = plan.microBatches;
  info.overlaps_steps = plan.overlapsSteps;
  info.step = plan.predictedStep;
  info.name = plan.name.c_str();
  info.hash = plan.hash.c_str();
  info.model_hash = plan.modelHash.c_str();
  info.wire = wireName(plan.wire).data(); // which ends with a zero
  info.consistency = plan.consistency.text.c_str();
  return info;
}

Failure OpenPlan::checkMessage(int message) const {
  if (message >= 0 && message < count())
    return {};
  if (count() == 0)
    return Failure::badUsage("expected a plan with messages, got one without");
  return Failure::badUsage("expected a message from 0 to " + std::to_string(count() - 1) +
                           ", got " + std::to_string(message));
}

} // namespace syncline::api
