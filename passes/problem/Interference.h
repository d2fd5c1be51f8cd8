// Interference: how much computation messages take from the device beside them, and the clock of a
// step that they slow.
//
// Theorem. Let a message of T seconds take L from computation, 0 <= L <= T, and let a clock stand
// still for what messages take: it shows the time less all that they have taken by then. On this
// clock operations last as long as without messages, and a message lasts T - L, whatever runs
// beside it. So a gradient exists at its undisturbed ready time, reconstruction takes its
// undisturbed seconds, and every rule of the model (README.md) holds with T - L in place of T. When
// the step ends all messages are over. So it ends, by the true clock, at the model's finish plus
// the sum of all L.
//
// In true time, for messages in ready order: keep (f, w), the time at which the channel is free and
// the sum of L so far. A message whose last gradient exists undisturbed at B gives
// f' = max(f, B + w) + T and w' = w + L, and the step ends at max(f, R + w), where R is the
// undisturbed end of the backward pass. For if that gradient exists after the channel is free, all
// messages are over and have taken w from it. If B + w <= f, it existed before, since it had lost
// no more than w. Both f' and w' grow with f and w, so a state that is no less in either than
// another one may be dropped.
//
// Classes of operations. Where messages slow memory-bound operations more or less than products, L
// depends on what runs beside the message (Problem::memoryBound), so a later start can be the
// better one: of two states the one that is no less in f and w may be the better one. Follow a
// plan's messages one by one and (f, w) of that plan is exact all the same. With the least L of all
// classes in place of L, f and w of every plan are no larger, as both grow with L: that problem's
// bound holds for this one.
//
// Units: seconds and bytes. Functions are pure and thread-safe.
#pragma once

#include "passes/problem/Problem.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

namespace syncline::problem {

/// How many times as long (>= 1) operations take beside a message's bytes, and during its latency,
/// which is the time of a message without bytes.
struct Interference {
  double beside = 1, latency = 1;

  bool slows() const { return beside != 1 || latency != 1; }
  /// Seconds of computation that a message of `seconds` takes.
  /// One without bytes takes `latencySeconds`.
  double lost(double latencySeconds, double seconds) const;
};

/// Interference of a scheme's messages with all operations alike, and where classes of operations
/// lose unequally, with each class.
struct SchemeInterference {
  Interference all;
  std::optional<ByClass<Interference>> of;

  SchemeInterference(const Interference &all = {}, std::optional<ByClass<Interference>> of = {})
      : all(all), of(std::move(of)) {}
};

/// lost() of messages with this cost, by their bytes; null where nothing is slower.
std::shared_ptr<const CollectiveCost> lostCost(const CollectiveCost &cost,
                                               const Interference &interference);

/// The seconds of `cost` with `times` those of `lost`, by bytes.
std::shared_ptr<const CollectiveCost> withLost(const CollectiveCost &cost, double times,
                                               const CollectiveCost &lost);

/// The least seconds of computation for each byte that a message of the class takes, of all
/// messages of up to `most` bytes.
double leastLostPerByte(const MergeClass &mergeClass, std::int64_t most);

/// Sets what the option's messages take from computation, given its cost.
void setLost(SchemeOption &option, const SchemeInterference &interference);
/// Sets it of the layer's option, given its time; a message without bytes takes `latencySeconds`.
void setLost(FactorOption &option, const SchemeInterference &interference, double latencySeconds);

/// Whether any message may slow computation.
bool slowsComputation(const Problem &problem);

/// Whether messages slow classes of operations unequally.
inline bool tellsClasses(const Problem &problem) { return problem.memoryBound.has_value(); }

/// The problem in which messages take `lost` from all operations alike. Nothing changes where
/// classes are not told apart.
Problem withoutClasses(Problem problem);
/// Likewise that in which they take the least that they take from any class, and with `orLost` from
/// all operations.
Problem withLeastLosses(Problem problem, bool orLost = false);

/// The problem whose messages do not slow computation.
Problem withoutLosses(Problem problem);

/// Seconds of computation that a message takes by class of what runs beside it; the same for both
/// where classes are not told apart. Precondition: its option exists.
using Loss = ByClass<double>;
Loss lossOf(const Problem &problem, const Message &message);
Loss lossOf(const Problem &problem, const FactorOption &option);
Loss lossOf(const Problem &problem, const SchemeOption &option, std::int64_t bytes);

/// Seconds of computation that all messages take at most. Precondition: as above, for each.
double mostLost(const Problem &problem, const Solution &solution);

/// Which class of operations runs when, on the clock of computation that nothing slows.
class WorkSchedule {
public:
  WorkSchedule() = default; ///< of products alone
  explicit WorkSchedule(const Problem &problem);

  /// Calls visit(seconds, seconds of computation) for each stretch of one class beside a message of
  /// `seconds`, which begins when `computed` is done.
  template <typename Visit>
  void beside(double computed, double seconds, const Loss &loss, Visit visit) const;

  /// Seconds of computation that this message takes. O(log n) and the stretches.
  double lost(double computed, double seconds, const Loss &loss) const;

private:
  std::vector<double> borders; ///< between products and memory-bound operations, in turns
};

/// Tells at which time a given amount of computation is done beside messages. Not thread-safe.
class ComputationClock {
public:
  ComputationClock() = default; ///< beside which all operations lose alike
  explicit ComputationClock(const Problem &problem) : work(problem) {}

  /// A message takes `lost` seconds of computation, spread evenly from start to end. Preconditions:
  /// it starts no earlier than the one before has ended; 0 <= lost <= end - start.
  void add(double start, double end, double lost);
  /// As above, given what it would take from each class if that ran beside all of it.
  void add(double start, double end, const Loss &loss);

  /// The time at which so many seconds of computation are done if the device is never idle: exactly
  /// `computed` where no message before takes any. O(log n) for n messages.
  double at(double computed) const;

  /// Seconds that all messages take.
  double lost() const { return slowed.empty() ? 0 : slowed.back().lost; }

private:
  struct Slowed {
    double start, end;
    double before, after; ///< seconds of computation done at its start and end
    double lost;          ///< by it and all messages before
  };
  std::vector<Slowed> slowed;
  WorkSchedule work;
};

template <typename Visit>
void WorkSchedule::beside(double computed, double seconds, const Loss &loss, Visit visit) const {
  if (loss.of[0] == loss.of[1])
    return visit(seconds, seconds - loss.of[0]);
  // However much is taken, something is left.
  constexpr double leastPace = 1e-9;
  const auto pace = [&](WorkClass work) { return std::max(1 - loss[work] / seconds, leastPace); };
  const ByClass<double> paces{{pace(WorkClass::products), pace(WorkClass::memory)}};
  auto next = std::ranges::upper_bound(borders, computed);
  for (std::size_t work = static_cast<std::size_t>(next - borders.begin()) % workClasses;;
       work = (work + 1) % workClasses, ++next) {
    const double room = next == borders.end() ? infinity : *next - computed;
    if (seconds * paces.of[work] <= room)
      return visit(seconds, seconds * paces.of[work]);
    visit(room / paces.of[work], room);
    seconds -= room / paces.of[work];
    computed = *next;
  }
}

} // namespace syncline::problem
