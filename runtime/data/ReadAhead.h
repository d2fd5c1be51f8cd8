// Reading the batches of coming steps in threads.
#pragma once

#include "runtime/data/Dataset.h"

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace syncline::data {

/// Threads that read batches before they are needed, in the order of the steps. Which values a
/// batch has does not depend on the threads. One thread calls seek() and take().
class ReadAhead {
public:
  /// Fills in the batch of a step. Several threads call it at once. Its errors are those of take().
  using Read = std::function<Status(std::int64_t step, HostBatch &batch)>;

  /// Reads the steps before `end` with `threads` threads, each a batch at a time. They begin with
  /// seek(). At most `threads` + 1 batches wait to be taken.
  ReadAhead(Read read, int threads, std::int64_t end);
  /// Waits for the batches that are being read.
  ~ReadAhead();
  ReadAhead(const ReadAhead &) = delete;
  ReadAhead &operator=(const ReadAhead &) = delete;

  /// Reads step `step` and the steps behind it next. What was read before is dropped.
  void seek(std::int64_t step);
  /// Exchanges `batch` for that of step `step`, waiting until it has been read. Errors: those of
  /// reading it; internal for a step behind the end, and where reading threw an exception.
  Status take(std::int64_t step, HostBatch &batch);

private:
  struct Entry {
    Status status;
    HostBatch batch;
  };
  void work();
  void workGuarded();
  Status readStep(std::int64_t step, HostBatch &batch) const;

  const Read read;
  const int threadCount;
  const std::int64_t end;

  std::mutex mutex; ///< guards what follows
  std::condition_variable changed;
  std::int64_t wanted = 0;             ///< the step that is taken next
  std::int64_t next = 0;               ///< the step that a thread reads next
  std::int64_t generation = 0;         ///< of seek() calls; results of earlier ones are dropped
  std::map<std::int64_t, Entry> ready; ///< by step
  std::vector<HostBatch> spare;        ///< buffers to use again
  bool isEnding = false;
  Status failure; ///< of a thread that could not go on

  std::vector<std::thread> threads;
};

} // namespace syncline::data
