// ComputeStream: one rank's operations, at full speed or, while messages are under way, slower.
#pragma once

#include <cstdint>
#include <optional>

namespace syncline::simulate {

/// Runs one operation at a time while messages come and go. Each change takes O(1): the rest of the
/// operation continues at the new speed. Times are seconds and never decrease from call to call.
/// Not thread-safe.
class ComputeStream {
public:
  /// Operations take `interference` (>= 1) times as long while any message is under way.
  explicit ComputeStream(double interference) : interference(interference) {}

  /// Begins an operation that takes `seconds` alone. Returns when it ends unless messages come or
  /// go before. Precondition: no operation is running.
  double begin(double now, double seconds);
  /// Adds `messages` (negative: removes) to those under way. Returns when the running operation
  /// ends, where that has changed; earlier results are then void.
  std::optional<double> change(double now, int messages);
  /// Ends the running operation.
  void finish() { running = false; }

  bool isRunning() const { return running; }
  /// The number of the latest result of begin() or change(), which tells it from earlier ones.
  std::uint32_t version() const { return count; }
  /// Seconds that all operations took, with what is known of the running one.
  double busy() const { return computed; }

private:
  double pace() const { return underWay > 0 ? interference : 1; }

  double interference;
  int underWay = 0; ///< number of messages under way
  bool running = false;
  std::uint32_t count = 0;
  double left = 0, since = 0; ///< seconds left of the operation, alone, from `since` on
  double end = 0, computed = 0;
};

} // namespace syncline::simulate
