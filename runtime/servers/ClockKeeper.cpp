// The rules of SSP, ASP, DSSP and of turns.
#include "runtime/servers/ClockKeeper.h"

#include <algorithm>
#include <cmath>

namespace syncline::servers {

std::int64_t stepsWithoutWait(const PushTimes &fastest, const PushTimes &slowest,
                              std::int64_t most) {
  const double own = fastest.last - fastest.before, other = slowest.last - slowest.before;
  std::int64_t best = 0, k = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t r = 0; r <= most; ++r) {
    const double end = fastest.last + static_cast<double>(r) * own;
    const auto waitFor = [&](std::int64_t push) {
      return std::abs(slowest.last + static_cast<double>(push + 1) * other - end);
    };
    // The push next to a later end is no earlier one, so that all leads together look at each push
    // once: 10,000 leads take some 20 us.
    while (k < most && waitFor(k + 1) <= waitFor(k))
      ++k;
    if (const double wait = waitFor(k); wait < least) {
      least = wait;
      best = r;
    }
  }
  return best;
}

ClockKeeper::ClockKeeper(const Bounds &bounds, int workers, bool countsGrant)
    : bounds(bounds), countsGrant(countsGrant), workers(static_cast<std::size_t>(workers)) {}

ClockKeeper ClockKeeper::turns(int workers) {
  ClockKeeper keeper(Bounds::asp(), workers);
  keeper.takesTurns = true;
  return keeper;
}

void ClockKeeper::tick(int worker, std::int64_t clock, double now) {
  Worker &w = workers[worker];
  if (clock > w.clock) {
    w.pushed = {now, w.pushed.last};
    w.clock = clock;
    if (takesTurns && turn == worker)
      passTurn();
  }
  w.isHeld = !mayGo(worker);
  release();
}

void ClockKeeper::leave(int worker) {
  Worker &w = workers[worker];
  if (w.hasLeft)
    return;
  w.hasLeft = true;
  w.isHeld = false;
  if (takesTurns && turn == worker)
    passTurn();
  release();
}

/// Whether a worker that has just ticked goes on without a wait.
bool ClockKeeper::mayGo(int worker) {
  if (takesTurns)
    return turn == worker;
  Worker &w = workers[worker];
  if (w.credit > 0) {
    --w.credit;
    return true;
  }
  if (lead(worker) <= bounds.lower)
    return true;
  const std::int64_t granted = isFastest(worker) ? creditOf(worker) : 0;
  w.credit = granted > 0 && countsGrant ? granted - 1 : granted;
  return granted > 0;
}

bool ClockKeeper::isFastest(int worker) const {
  return std::ranges::all_of(workers, [&](const Worker &other) {
    return other.hasLeft || other.clock <= workers[worker].clock;
  });
}

/// What the controller grants to a worker with more than the lower lead, which may make the step
/// that follows the grant and, with the others granted, comes to the upper lead at most.
std::int64_t ClockKeeper::creditOf(int worker) const {
  const std::int64_t most = std::min(bounds.upper - bounds.lower, bounds.upper - lead(worker) + 1);
  const Worker &fastest = workers[worker], &other = workers[slowest()];
  // An interval needs two pushes of each.
  if (most <= 0 || fastest.clock < 2 || other.clock < 2)
    return 0;
  return stepsWithoutWait(fastest.pushed, other.pushed, most);
}

std::int64_t ClockKeeper::least() const {
  std::int64_t found = Bounds::none;
  for (const Worker &w : workers)
    if (!w.hasLeft)
      found = std::min(found, w.clock);
  return found;
}

int ClockKeeper::slowest() const {
  if (takesTurns)
    return turn;
  int found = 0;
  for (std::size_t i = 0; i < workers.size(); ++i)
    if (!workers[i].hasLeft && (workers[found].hasLeft || workers[i].clock < workers[found].clock))
      found = static_cast<int>(i);
  return found;
}

void ClockKeeper::passTurn() {
  const int count = static_cast<int>(workers.size());
  for (int i = 1; i <= count; ++i)
    if (!workers[(turn + i) % count].hasLeft) {
      turn = (turn + i) % count;
      return;
    }
}

/// Lets those go on whose reason to wait has gone.
void ClockKeeper::release() {
  for (std::size_t i = 0; i < workers.size(); ++i) {
    const int worker = static_cast<int>(i);
    if (workers[i].isHeld)
      workers[i].isHeld = takesTurns ? turn != worker : lead(worker) > bounds.lower;
  }
}

} // namespace syncline::servers
