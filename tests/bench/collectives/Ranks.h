// The ranks of a bench: what each does in its group, and all of them as threads over loopback.
#pragma once

#include "runtime/transport/Group.h"

#include <cstdio>
#include <cstdlib>
#include <errno.h>
#include <thread>
#include <vector>

namespace syncline {

/// Ends the process with the error, if there is one.
inline void check(const Status &status) {
  if (status)
    return;
  std::fprintf(stderr, "%s: error: %s\n", program_invocation_short_name, status.message().c_str());
  std::exit(status.exitCode());
}

/// Joins the group, calls `bench` with its transport, and leaves.
template <typename Bench> void runRank(const transport::GroupOptions &options, const Bench &bench) {
  auto group = transport::Group::join(options);
  check(group.status());
  check((*group)->connect(60));
  bench(*(*group)->transport());
  check((*group)->leave(60));
}

/// Runs `size` ranks, each a thread of this process.
template <typename Bench> void runThreads(int size, const Bench &bench) {
  Result<transport::Socket> listener = transport::Socket::listen(0);
  check(listener.status());
  transport::GroupOptions options;
  options.size = size;
  options.port = listener->localPort();
  std::vector<std::thread> ranks;
  for (int rank = size - 1; rank >= 0; --rank) {
    options.rank = rank;
    options.listener = rank == 0 ? listener->release() : -1;
    ranks.emplace_back([options, &bench] { runRank(options, bench); });
  }
  for (std::thread &rank : ranks)
    rank.join();
}

} // namespace syncline
