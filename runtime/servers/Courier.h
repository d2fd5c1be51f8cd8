// A thread that carries out requests while the worker computes.
#pragma once

#include "syncline/Status.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace syncline::servers {

/// Carries out jobs in the order of add(). One thread makes the calls.
class Courier {
public:
  using Job = std::function<Status()>;

  Courier() : thread([this] { work(); }) {}
  /// Waits for the job under way, and drops those behind it.
  ~Courier();

  /// Queues a job and returns its number, counted from 1.
  std::uint64_t add(Job job);
  bool isDone(std::uint64_t number);
  /// Waits for the jobs up to this number. Returns the first error so far; after an error no more
  /// jobs are carried out.
  Status wait(std::uint64_t number);
  Status waitForAll() { return wait(added); }

private:
  void work();

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Job> queue;
  std::uint64_t added = 0, done = 0;
  Status failure;
  bool stops = false;
  std::thread thread;
};

} // namespace syncline::servers
