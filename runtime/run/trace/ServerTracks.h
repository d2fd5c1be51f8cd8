// What servers that hold the weights did, as tracks of a trace.
#pragma once

#include "runtime/run/plan/Plan.h"
#include "runtime/run/trace/ClockAlignment.h"
#include "runtime/run/trace/TraceEvents.h"
#include "runtime/servers/ServiceLog.h"

#include <cstdint>
#include <span>
#include <vector>

namespace syncline::run {

/// A service whose times are in seconds by rank 0's clock.
struct TracedService {
  servers::Service::Kind kind = servers::Service::Kind::receive;
  int worker = 0;
  std::int64_t clock = 0;
  double begin = 0, end = 0;
};

struct TracedServer {
  int rank = 0; ///< of the process
  std::vector<TracedService> services;
};

/// Services as numbers that can be sent, with times in clockSeconds().
std::vector<double> packServices(std::span<const servers::Service> services);
/// Converts what each rank packed to rank 0's clock, by the offsets measured before and after.
/// Ranks without services have no entry. Errors: internal for what packServices() does not make.
Result<std::vector<TracedServer>> alignServices(const std::vector<std::vector<double>> &collected,
                                                std::span<const ClockOffset> before,
                                                std::span<const ClockOffset> after);

/// When the first service began; infinite where there is none.
double firstService(std::span<const TracedServer> servers);
/// Adds a process for each server, and its services (TraceFile.h describes them).
void addServers(const Plan &plan, std::span<const TracedServer> servers, TraceEvents &events);

} // namespace syncline::run
