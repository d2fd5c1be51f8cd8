// Which worker may begin its next step: the rules of the forms of consistency that have servers.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace syncline::servers {

/// How far workers may drift apart. A worker's clock is the number of steps that it has completed.
/// Its lead is the distance to the least clock of all workers.
struct Bounds {
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

  std::int64_t lower = 0; ///< a lead up to here is always allowed
  std::int64_t upper = 0; ///< no larger lead is allowed

  static Bounds ssp(std::int64_t staleness) { return {staleness, staleness}; }
  static Bounds asp() { return {none, none}; }
  static Bounds dssp(std::int64_t lower, std::int64_t upper) { return {lower, upper}; }
};

/// The times of a worker's last two pushes, in seconds.
struct PushTimes {
  double last = 0, before = 0;
};

/// The controller of DSSP: how many more steps the fastest worker may make without a wait, so that
/// it then waits least for a push of the slowest one. Both are assumed to go on as fast as between
/// their last two pushes. With I the interval between those, it minimises over r and k, both at
/// most `most`,
///
///     | (slowest.last + (k + 1)·I_slowest) - (fastest.last + r·I_fastest) |
///
/// and returns r, the least one of several. It tries the k next to the minimum of each r only.
std::int64_t stepsWithoutWait(const PushTimes &fastest, const PushTimes &slowest,
                              std::int64_t most);

/// Decides by the workers' clocks who goes on: SSP (Ho et al. 2013), ASP, and DSSP (Zhao et al.
/// 2019). SSP is DSSP with equal bounds. A rule of its own, `turns`, lets one worker go on at a
/// time, in the order of their numbers.
///
/// A worker that ticks either goes on at once, or is held until its lead is at most `lower`. With
/// DSSP the fastest worker may get credit for steps up to `upper`. The published listing differs in
/// three points. There the step at the grant is not counted as one of those granted, a wait follows
/// even a grant, and a worker that has used its credit up may ask for as much again, so that no
/// bound holds.
///
/// It has neither threads nor a clock of its own.
class ClockKeeper {
public:
  ClockKeeper(const Bounds &bounds, int workers, bool countsGrant = true);
  static ClockKeeper turns(int workers);

  /// Worker `worker` has completed `clock` steps at time `now`. A tick with clock 0 asks for the
  /// first step; only `turns` needs it.
  void tick(int worker, std::int64_t clock, double now);
  /// The worker makes no more steps. Nobody waits for it.
  void leave(int worker);

  bool isHeld(int worker) const { return workers[worker].isHeld; }
  /// The least clock of the workers that have not left; without any, the greatest number.
  std::int64_t least() const;
  /// A worker with the least clock, the first of several; with `turns` the one whose turn it is.
  int slowest() const;
  /// The distance between the worker's clock and the least one.
  std::int64_t lead(int worker) const { return workers[worker].clock - least(); }
  const Bounds &limits() const { return bounds; }

private:
  struct Worker {
    std::int64_t clock = 0;
    std::int64_t credit = 0; ///< steps that it may make whatever its lead
    PushTimes pushed;
    bool hasLeft = false, isHeld = false;
  };

  bool mayGo(int worker);
  bool isFastest(int worker) const;
  std::int64_t creditOf(int worker) const;
  void passTurn();
  void release();

  Bounds bounds;
  bool countsGrant; ///< off: as published, for tests
  bool takesTurns = false;
  int turn = 0;
  std::vector<Worker> workers;
};

} // namespace syncline::servers
