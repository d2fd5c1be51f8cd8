// StatedRuns: messages under way that take their stated costs, each slower beside the others.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace syncline::simulate {

/// Beside k other messages a message goes on at 1/(1 + k(m-1)) of its speed. Units: seconds. Not
/// thread-safe; times never decrease from call to call.
class StatedRuns {
public:
  /// A prediction of a message's end, which holds until other messages come or go.
  struct Ending {
    int run = 0;
    std::uint32_t version = 0;
    double time = 0;
  };
  using Predicted = std::function<void(const Ending &)>;

  /// `messageInterference` is m; every new prediction is reported.
  StatedRuns(double messageInterference, Predicted predicted)
      : interference(messageInterference), predicted(std::move(predicted)) {}

  /// A message of `seconds` begins; `run` is the caller's number for it.
  void begin(double now, int run, double seconds);
  /// Whether the prediction still holds, so that the message has ended at its time.
  bool isCurrent(int run, std::uint32_t version) const;
  /// Ends a message. Precondition: its prediction is current, and its time is now.
  void end(double now, int run);
  /// Says whether messages that share links are under way beside these. All of them count as one.
  void setOthers(double now, bool areUnderWay);

  /// The part of their speed at which messages that share links go beside these.
  double speedOfOthers() const { return 1 / slowedBy(runs.size()); }

private:
  struct Run {
    int number = 0;
    std::uint32_t version = 0;
    double left = 0; ///< seconds alone
  };

  double slowedBy(std::size_t others) const {
    return 1 + static_cast<double>(others) * (interference - 1);
  }
  double pace() const { return slowedBy(runs.size() + hasOthers - 1); }
  void goOn(double now);
  void predict(double now);

  const double interference;
  const Predicted predicted;
  std::vector<Run> runs;
  bool hasOthers = false;
  double since = 0; ///< when the runs' times left held
  std::uint32_t versions = 0;
};

} // namespace syncline::simulate
