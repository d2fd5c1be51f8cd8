// Collectives as timed schemes.
#include "runtime/calibrate/HostMessages.h"

#include "runtime/calibrate/Transfers.h"

#include <memory>

namespace syncline::calibrate {
namespace {

using Shared = std::shared_ptr<const Collective>;

Result<std::vector<Shared>> open(transport::Transport &transport,
                                 const transport::RankLayout &layout,
                                 const std::vector<Scheme> &schemes, std::int64_t largest,
                                 const std::string &name) {
  SYNCLINE_TRY_GET(opened, openCollectives(transport, layout, schemes, largest, name));
  std::vector<Shared> all;
  for (Collective &collective : *opened)
    all.push_back(std::make_shared<Collective>(std::move(collective)));
  return all;
}

TimedScheme timed(Team &team, const Shared &by) {
  return {by->scheme, by->largest, [&team, by](std::int64_t bytes, Repetitions times) {
            const Transfer transfer{by.get(), bytes};
            return timeTransfers(team, std::span(&transfer, 1), times);
          }};
}

} // namespace

Result<Messages> openHostMessages(transport::Transport &transport, Team &team,
                                  const transport::RankLayout &layout,
                                  const std::vector<Scheme> &schemes, std::int64_t largest) {
  SYNCLINE_TRY_GET(all, open(transport, layout, schemes, largest, "calibrate/0"));
  SYNCLINE_TRY_GET(second, open(transport, layout, {schemes.front()}, largest, "calibrate/1"));
  Messages messages;
  for (const Shared &by : *all)
    messages.schemes.push_back(timed(team, by));
  messages.two = [&team, one = all->front(), other = second->front()](std::int64_t bytes,
                                                                      Repetitions times) {
    const Transfer transfers[] = {{one.get(), bytes}, {other.get(), bytes}};
    return timeTransfers(team, transfers, times);
  };
  return messages;
}

Result<TimedScheme> openNodeRing(transport::Transport &node, Team &team, std::int64_t largest) {
  auto ring = open(node, {}, {Scheme::ring}, largest, "calibrate/node");
  return ring ? Result<TimedScheme>(timed(team, ring->front())) : ring.status();
}

} // namespace syncline::calibrate
