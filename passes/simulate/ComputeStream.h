// ComputeStream: one rank's operations, at full speed or, while messages are under way, slower.
#pragma once

#include "passes/problem/WorkClass.h"

#include <array>
#include <cstdint>
#include <optional>
#include <set>

namespace syncline::simulate {

/// How many times as long (>= 1) operations take beside a message: all alike, then by class.
struct Slowing {
  std::array<double, 1 + problem::workClasses> of;

  Slowing(double all) : of{all, all, all} {}
  Slowing(double all, double products, double memory) : of{all, products, memory} {}
};

/// Runs one operation at a time while messages come and go. The rest of the operation continues at
/// the new speed. A change takes O(log n) for n messages under way. Times are seconds and never
/// decrease from call to call. Not thread-safe.
class ComputeStream {
public:
  /// Begins an operation that takes `seconds` alone; without a class messages slow it as all
  /// operations alike. Returns when it ends unless messages come or go before. Precondition: no
  /// operation is running.
  double begin(double now, double seconds, std::optional<problem::WorkClass> work = std::nullopt);
  /// A message comes. Of several the one that slows the operation most counts. Returns when the
  /// running operation ends, where that has changed; earlier results are then void.
  std::optional<double> enter(double now, const Slowing &slowing);
  /// A message goes that came with the same `slowing`. Returns as enter() does.
  std::optional<double> leave(double now, const Slowing &slowing);
  /// Ends the running operation.
  void finish() { running = false; }

  bool isRunning() const { return running; }
  /// The number of the latest time that begin(), enter() or leave() returned; earlier times have
  /// other numbers.
  std::uint32_t version() const { return count; }
  /// Seconds that all operations took, with what is known of the running one.
  double busy() const { return computed; }

private:
  double pace() const { return underWay[kind].empty() ? 1 : *underWay[kind].rbegin(); }
  std::optional<double> goOn(double now, double before);

  /// How much each message under way slows operations, by the places of a Slowing.
  std::array<std::multiset<double>, 1 + problem::workClasses> underWay;
  std::size_t kind = 0; ///< the operation's place in a Slowing
  bool running = false;
  std::uint32_t count = 0;
  double left = 0, since = 0; ///< seconds left of the operation, alone, from `since` on
  double end = 0, computed = 0;
};

} // namespace syncline::simulate
