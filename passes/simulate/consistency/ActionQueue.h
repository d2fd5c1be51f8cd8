// ActionQueue: what happens next in virtual time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace syncline::simulate {

/// Events in order of time; events of the same time in the order in which they were added.
/// Not thread-safe.
class ActionQueue {
public:
  using Action = std::function<void()>;

  double now() const { return time; }
  /// Precondition: seconds >= 0.
  void after(double seconds, Action action) { at(time + seconds, std::move(action)); }
  /// Precondition: when >= now().
  void at(double when, Action action) {
    events.push_back({when, added++, std::move(action)});
    std::push_heap(events.begin(), events.end(), isLater);
  }
  bool isEmpty() const { return events.empty(); }
  /// Precondition: not isEmpty().
  double nextTime() const { return events.front().time; }
  /// Carries out the next event. Precondition: not isEmpty().
  void step() {
    std::pop_heap(events.begin(), events.end(), isLater);
    Event event = std::move(events.back());
    events.pop_back();
    time = event.time;
    event.action();
  }

private:
  struct Event {
    double time = 0;
    std::uint64_t number = 0;
    Action action;
  };
  static bool isLater(const Event &a, const Event &b) {
    return std::pair(a.time, a.number) > std::pair(b.time, b.number);
  }

  double time = 0;
  std::uint64_t added = 0;
  std::vector<Event> events; ///< a heap
};

} // namespace syncline::simulate
