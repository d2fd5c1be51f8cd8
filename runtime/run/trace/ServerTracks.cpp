// Packing services, and writing their events.
#include "runtime/run/trace/ServerTracks.h"

#include <limits>
#include <set>

namespace syncline::run {

using Kind = servers::Service::Kind;

/// Numbers of a packed service: kind, worker, clock, begin, end.
static constexpr std::size_t serviceNumbers = 5;

std::vector<double> packServices(std::span<const servers::Service> services) {
  std::vector<double> numbers;
  for (const servers::Service &s : services)
    numbers.insert(numbers.end(),
                   {static_cast<double>(s.kind), static_cast<double>(s.worker),
                    static_cast<double>(s.clock), clockSeconds(s.begin), clockSeconds(s.end)});
  return numbers;
}

Result<std::vector<TracedServer>> alignServices(const std::vector<std::vector<double>> &collected,
                                                std::span<const ClockOffset> before,
                                                std::span<const ClockOffset> after) {
  std::vector<TracedServer> all;
  for (std::size_t rank = 0; rank < collected.size(); ++rank) {
    std::span<const double> numbers = collected[rank];
    if (numbers.size() % serviceNumbers != 0)
      return Status::error(ErrorKind::internal, "a server sent a malformed record");
    if (numbers.empty())
      continue;
    TracedServer &server = all.emplace_back();
    server.rank = static_cast<int>(rank);
    const auto aligned = [&](double time) {
      return time - offsetAt(before[rank], after[rank], time);
    };
    for (; !numbers.empty(); numbers = numbers.subspan(serviceNumbers))
      server.services.push_back(
          {static_cast<Kind>(static_cast<int>(numbers[0])), static_cast<int>(numbers[1]),
           static_cast<std::int64_t>(numbers[2]), aligned(numbers[3]), aligned(numbers[4])});
  }
  return all;
}

double firstService(std::span<const TracedServer> servers) {
  double first = std::numeric_limits<double>::infinity();
  for (const TracedServer &server : servers)
    for (const TracedService &service : server.services)
      first = std::min(first, service.begin);
  return first;
}

static const char *nameOf(Kind kind) {
  switch (kind) {
  case Kind::receive:
    return "receive";
  case Kind::add:
    return "add";
  case Kind::park:
    return "parked";
  case Kind::send:
    return "send";
  case Kind::grant:
    return "grant";
  }
  return "";
}

void addServers(const Plan &plan, std::span<const TracedServer> servers, TraceEvents &events) {
  for (const TracedServer &server : servers) {
    const bool isDedicated = plan.servers > 0;
    const int number = isDedicated ? server.rank - plan.ranks : server.rank;
    const int process = plan.ranks + number;
    events.name("process_name", {process, 0},
                "server " + std::to_string(number) +
                    (isDedicated ? "" : " in the process of rank " + std::to_string(server.rank)));
    std::set<int> named;
    for (const TracedService &service : server.services) {
      const bool isGrant = service.kind == Kind::grant;
      const TraceEvents::Track track{process, 2 * service.worker + (isGrant ? 1 : 0)};
      if (named.insert(track.thread).second)
        events.name("thread_name", track,
                    (isGrant ? "ticks of rank " : "values of rank ") +
                        std::to_string(service.worker));
      events.complete("server", nameOf(service.kind), track, service.begin, service.end,
                      {{"worker", service.worker}, {"clock", service.clock}});
    }
  }
}

} // namespace syncline::run
