// ComputeStream: what one rank computes, at full speed or, while messages are under way, slower.
#pragma once

#include <cstdint>
#include <optional>

namespace syncline::simulate {

/// One operation at a time. Messages come and go while it runs; each change is O(1): what is left
/// of the operation goes on at another pace. Times are seconds and never decrease from call to
/// call. Not thread-safe.
class ComputeStream {
public:
  /// Operations take `interference` times as long while any message is under way; >= 1.
  explicit ComputeStream(double interference) : interference(interference) {}

  /// Begins an operation that takes `seconds` alone. Returns when it is over unless messages come
  /// or go until then. Precondition: none is running.
  double begin(double now, double seconds);
  /// So many messages more (or fewer) are under way. Returns when the running operation is over
  /// where that has changed; what was said before then holds no more.
  std::optional<double> change(double now, int messages);
  /// The running operation is over.
  void finish() { running = false; }

  bool isRunning() const { return running; }
  /// Tells what begin() or change() said last from what was said before.
  std::uint32_t version() const { return count; }
  /// Seconds that operations took in all, the running one as far as is known.
  double busy() const { return computed; }

private:
  double pace() const { return underWay > 0 ? interference : 1; }

  double interference;
  int underWay = 0; ///< messages
  bool running = false;
  std::uint32_t count = 0;
  double left = 0, since = 0; ///< what the operation takes alone from `since` on
  double end = 0, computed = 0;
};

} // namespace syncline::simulate
