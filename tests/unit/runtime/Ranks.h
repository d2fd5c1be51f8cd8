// Ranks as threads of one process, joined over loopback.
#pragma once

#include "runtime/transport/Group.h"
#include "tests/support/Patience.h"

#include <functional>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace syncline::testing {

/// Runs `body` once a rank; the group is joined, and connected unless `connect` is false. Ranks
/// wait for each other at the end unless `leave` is false: after an error that somebody is lost.
inline void runRanks(int size, const std::function<void(int rank, transport::Group &group)> &body,
                     bool connect = true, bool leave = true) {
  Result<transport::Socket> listener = transport::Socket::listen(0);
  ASSERT_TRUE(listener.isOk()) << listener.status().message();
  int port = listener->localPort(), fd = listener->release();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      transport::GroupOptions options;
      options.rank = rank;
      options.size = size;
      options.port = port;
      options.listener = rank == 0 ? fd : -1;
      options.startSeconds = test::patience;
      auto group = transport::Group::join(options);
      ASSERT_TRUE(group.isOk()) << group.status().message();
      if (connect) {
        Status s = (*group)->connect(test::patience);
        ASSERT_TRUE(s.isOk()) << s.message();
      }
      body(rank, **group);
      Status left = leave ? (*group)->leave(test::patience) : Status();
      ASSERT_TRUE(left.isOk()) << left.message();
    });
  for (std::thread &t : threads)
    t.join();
}

} // namespace syncline::testing
