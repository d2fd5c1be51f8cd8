// A slow reference for ssp and dssp: every worker and every message, slice by slice of 1 s, and the
// rules as they are published.
#pragma once

#include "passes/simulate/consistency/WorkerScenario.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace syncline::simulate {

/// Worker i computes a step in `seconds[i]` slices. A message takes `latency` slices and no
/// bandwidth. Every worker has a shard; worker 0 is beside the shard that keeps the clocks.
class TimeSlices {
public:
  TimeSlices(const Consistency &consistency, std::vector<std::int64_t> seconds,
             std::int64_t latency)
      : consistency(consistency), seconds(std::move(seconds)), latency(latency),
        workers(this->seconds.size()) {}

  /// Slices until every worker has begun the step behind the first `steps`.
  std::int64_t run(std::int64_t steps) {
    for (now = 0;; ++now) {
      deliver();
      for (std::size_t i = 0; i < workers.size(); ++i)
        if (workers[i].isComputing && now == workers[i].ready) {
          workers[i].isComputing = false;
          workers[i].isGranted = false;
          ++workers[i].clock;
          post(toFirst(i), Kind::tick, i, 0);
          workers[i].jobs.push_back({true, workers[i].clock, 0});
          deliver();
        }
      for (std::size_t i = 0; i < workers.size(); ++i) {
        Worker &worker = workers[i];
        if (worker.isComputing || !worker.isGranted)
          continue;
        if (!worker.isReading && worker.readClock < worker.clock) {
          worker.isReading = true;
          worker.readClock = worker.clock;
          worker.jobs.push_back({false, 0, worker.least});
          deliver();
        }
        if (worker.cached >= worker.clock - upper()) {
          worker.isComputing = true;
          worker.ready = now + seconds[i];
        }
      }
      if (std::ranges::all_of(workers, [&](const Worker &worker) {
            return worker.clock > steps || (worker.clock == steps && worker.isComputing);
          }))
        return now;
    }
  }

  std::vector<std::int64_t> clocks() const {
    std::vector<std::int64_t> all;
    for (const Worker &worker : workers)
      all.push_back(worker.clock);
    return all;
  }

private:
  enum class Kind { push, tick, grant, read, reply };
  struct Message {
    std::int64_t due;
    Kind kind;
    std::size_t worker;
    std::int64_t value;
  };
  struct Job {
    bool isPush;
    std::int64_t clock, need;
  };
  struct Worker {
    std::int64_t clock = 0, ready = 0, least = 0, cached = 0, readClock = 0;
    /// The first step needs no grant.
    bool isComputing = false, isGranted = true, isReading = false, isBusy = false;
    std::optional<std::int64_t> parked; ///< the need of its read
    std::deque<Job> jobs;               ///< what its courier has to send
    std::int64_t applied = 0, ticks = 0, extra = 0, last = 0, before = 0;
    bool isHeld = false;
  };

  std::int64_t upper() const {
    return consistency.form == Consistency::Form::ssp ? consistency.staleness : consistency.upper;
  }
  std::int64_t toFirst(std::size_t worker) const { return worker == 0 ? 0 : latency; }
  void post(std::int64_t delay, Kind kind, std::size_t worker, std::int64_t value) {
    messages.push_back({now + delay, kind, worker, value});
  }

  /// Delivers what is due until nothing more is.
  void deliver() {
    for (bool hasChanged = true; hasChanged;) {
      hasChanged = false;
      for (std::size_t i = 0; i < messages.size() && !hasChanged; ++i)
        if (messages[i].due == now) {
          const Message message = messages[i];
          messages.erase(messages.begin() + static_cast<std::ptrdiff_t>(i));
          take(message);
          hasChanged = true;
        }
      for (std::size_t i = 0; i < workers.size(); ++i) {
        Worker &worker = workers[i];
        if (!worker.isBusy && !worker.jobs.empty()) {
          const Job job = worker.jobs.front();
          worker.jobs.pop_front();
          worker.isBusy = true;
          hasChanged = true;
          post(job.isPush ? latency : toFirst(i), job.isPush ? Kind::push : Kind::read, i,
               job.isPush ? job.clock : job.need);
        }
        if (worker.parked && least(&Worker::applied) >= *worker.parked) {
          worker.parked.reset();
          hasChanged = true;
          post(latency, Kind::reply, i, least(&Worker::applied));
        }
      }
    }
  }

  void take(const Message &message) {
    Worker &worker = workers[message.worker];
    switch (message.kind) {
    case Kind::push:
      worker.applied = message.value;
      worker.isBusy = false;
      break;
    case Kind::tick:
      tick(message.worker);
      break;
    case Kind::grant:
      worker.least = message.value;
      worker.isGranted = true;
      break;
    case Kind::read:
      worker.parked = message.value;
      break;
    case Kind::reply:
      worker.cached = std::min(message.value, worker.readClock);
      worker.isReading = worker.isBusy = false;
      break;
    }
  }

  std::int64_t least(std::int64_t Worker::*number) const {
    return (*std::ranges::min_element(workers, {}, number)).*number;
  }
  void tick(std::size_t number) {
    Worker &worker = workers[number];
    ++worker.ticks;
    worker.before = worker.last;
    worker.last = now;
    if (worker.extra > 0) {
      --worker.extra;
      post(toFirst(number), Kind::grant, number, least(&Worker::ticks));
    } else if (worker.ticks - least(&Worker::ticks) <= consistency.staleness) {
      post(toFirst(number), Kind::grant, number, least(&Worker::ticks));
    } else if (const std::int64_t steps = control(number); steps > 0) {
      worker.extra = steps - 1;
      post(toFirst(number), Kind::grant, number, least(&Worker::ticks));
    } else {
      worker.isHeld = true;
    }
    for (std::size_t i = 0; i < workers.size(); ++i)
      if (workers[i].isHeld && workers[i].ticks - least(&Worker::ticks) <= consistency.staleness) {
        workers[i].isHeld = false;
        post(toFirst(i), Kind::grant, i, least(&Worker::ticks));
      }
  }

  /// Every pair of a step count of the worker and a push of the slowest one.
  std::int64_t control(std::size_t number) const {
    const Worker &own = workers[number];
    if (consistency.form == Consistency::Form::ssp)
      return 0;
    if (own.ticks < std::ranges::max_element(workers, {}, &Worker::ticks)->ticks)
      return 0;
    const Worker &slowest = *std::ranges::min_element(workers, {}, &Worker::ticks);
    if (own.ticks < 2 || slowest.ticks < 2)
      return 0;
    const std::int64_t range = consistency.upper - consistency.staleness;
    const std::int64_t left = consistency.upper - (own.ticks - slowest.ticks) + 1;
    std::int64_t best = 0, least = INT64_MAX;
    for (std::int64_t r = 0; r <= std::min(range, left); ++r)
      for (std::int64_t k = 0; k <= std::min(range, left); ++k) {
        const std::int64_t mine = own.last + r * (own.last - own.before);
        const std::int64_t theirs = slowest.last + (k + 1) * (slowest.last - slowest.before);
        if (std::abs(theirs - mine) < least) {
          least = std::abs(theirs - mine);
          best = r;
        }
      }
    return best;
  }

  Consistency consistency;
  std::vector<std::int64_t> seconds;
  std::int64_t latency, now = 0;
  std::vector<Worker> workers;
  std::vector<Message> messages;
};

} // namespace syncline::simulate
