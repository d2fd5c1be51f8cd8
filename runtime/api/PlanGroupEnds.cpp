// How a group comes about, and how it ends.
#include "runtime/api/Meeting.h"
#include "runtime/api/PlanGroup.h"
#include "runtime/api/Reduction.h"

#include <algorithm>

namespace syncline::api {

Result<std::unique_ptr<PlanGroup>> PlanGroup::join(std::shared_ptr<const OpenPlan> open,
                                                   const GroupSettings &settings) {
  std::unique_ptr<PlanGroup> made(new PlanGroup(std::move(open), settings));
  const Status s = made->connect();
  if (s)
    return made;
  if (made->group)
    made->group->abandon(s); // the others need not wait
  return Status::error(s.kind(), made->prefix() + "rank " + std::to_string(settings.rank) + ": " +
                                     s.message());
}

Status PlanGroup::connect() {
  SYNCLINE_TRY_GET(meeting, findMeeting(settings));
  SYNCLINE_TRY_GET(found, transport::Group::join(*meeting));
  group = std::move(*found);
  SYNCLINE_TRY(group->agree({{"plan", open->plan.hash.substr(0, 16)},
                             {"number of ranks a node", std::to_string(settings.perNode)}}));
  SYNCLINE_TRY(checkPlan());
  SYNCLINE_TRY(group->connect(settings.lostSeconds));
  SYNCLINE_TRY(openChannels());
  group->watcher()->whenConcluded([this] { group->transport()->interrupt(); });
  return Status::ok();
}

/// Refuses what needs more than sums between equal ranks.
Status PlanGroup::checkPlan() const {
  const run::PlanMessages &plan = open->plan;
  const auto refuse = [&](const std::string &what) {
    return Status::badInput("'" + plan.folder + "': " + what);
  };
  if (plan.ranks.ranks != settings.ranks)
    return refuse("the plan is for " + std::to_string(plan.ranks.ranks) + " ranks, the group has " +
                  std::to_string(settings.ranks));
  if (plan.ranks.servers > 0)
    return refuse("the plan has dedicated servers, which groups do not have: expected none");
  using Form = ConsistencyForm;
  const Form form = plan.consistency.form;
  if (form != Form::bsp && form != Form::local && form != Form::diloco)
    return refuse("by consistency '" + plan.consistency.text +
                  "' weights travel to a centre, which groups do not have: expected 'bsp', "
                  "'local' or 'diloco'");
  const auto isHierarchical = [](const run::PlanBucket &b) {
    return b.scheme == Scheme::hierarchical;
  };
  const int perNode = settings.perNode > 0 ? settings.perNode : plan.ranks.perNode;
  if (std::ranges::none_of(plan.buckets, isHierarchical) || perNode == 0)
    return Status::ok();
  return run::checkNodes(plan.ranks.perNode, settings.rank, settings.rank % perNode, perNode);
}

Status PlanGroup::openChannels() {
  std::vector<run::PlanBucket> carried;
  for (std::size_t i = 0; i < open->messages.size(); ++i)
    if (const syncline_message_info &info = open->messages[i];
        info.is_carried || info.is_gathered || info.is_sharded)
      carried.push_back(open->plan.buckets[i]);
  std::map<int, std::vector<Scheme>> schemes = run::schemesByChannel(carried);
  std::vector<Scheme> &first = schemes.empty() ? schemes[0] : schemes.begin()->second;
  for (const Scheme other : open->others.schemes())
    if (std::ranges::find(first, other) == first.end())
      first.push_back(other);
  const transport::RankLayout layout{
      .ranksPerNode =
          std::max(1, settings.perNode > 0 ? settings.perNode : open->plan.ranks.perNode)};
  for (const auto &[id, used] : schemes) {
    auto &carrier = carriers.try_emplace(id, *group->transport(), reductionText).first->second;
    SYNCLINE_TRY_GET(channel, transport::CommunicationThread::create(carrier, id, used, layout, {},
                                                                     open->plan.wire));
    underWay[id];
    (*channel)->whenBegun([this, id = id] { begins(id); });
    (*channel)->whenDone([this, id = id](const core::BucketTiming &timing, const Status &status) {
      arrived(id, timing, status);
    });
    channels[id] = std::move(*channel);
  }
  return Status::ok();
}

PlanGroup::~PlanGroup() {
  if (group)
    group->watcher()->whenConcluded({});
  channels.clear();
}

Failure PlanGroup::abort(const std::string &why) {
  Failure reason{SYNCLINE_BAD_USAGE,
                 prefix() + "rank " + std::to_string(settings.rank) + " aborted: " + why,
                 settings.rank};
  {
    std::lock_guard lock(mutex);
    if (!broken.isOk())
      return {};
    broken = reason;
  }
  spread(reason);
  return {};
}

/// Ends messages under way, so that their data are the caller's again.
Failure PlanGroup::close(double seconds) {
  const core::Deadline deadline = core::deadlineIn(std::max(0.0, seconds));
  Failure result;
  {
    std::unique_lock lock(mutex);
    if (!ended.wait_until(lock, deadline, [&] { return isIdle(); })) {
      const auto busy =
          std::ranges::find_if(underWay, [](const auto &queue) { return !queue.second.empty(); });
      const UnderWay &message = busy->second.front();
      result = {SYNCLINE_BAD_USAGE,
                prefix() + "rank " + std::to_string(settings.rank) + " closed the group with " +
                    nameOf(message) + " under way in step " + std::to_string(message.step),
                settings.rank, message.message, message.step};
      lock.unlock();
      spread(result);
      lock.lock();
      ended.wait(lock, [&] { return isIdle(); });
    } else {
      result = checkGoesOn();
    }
  }
  if (!result.isOk() || seconds <= 0)
    return result;
  const Status left = group->leave(core::remaining(deadline).count() / 1e3);
  return Failure::of(left ? left : Status::error(left.kind(), prefix() + left.message()));
}

} // namespace syncline::api
