// The instruments of a calibration, for every backend.
#pragma once

#include "runtime/calibrate/Device.h"
#include "runtime/calibrate/LatencyOverlap.h"
#include "runtime/calibrate/Messages.h"
#include "runtime/calibrate/Overlap.h"
#include "runtime/calibrate/Pairs.h"
#include "runtime/calibrate/Team.h"

#include <functional>
#include <optional>

namespace syncline::calibrate {

/// The measured backend and the connections between ranks. All outlive the instruments.
struct Site {
  const core::Backend &backend;
  transport::Transport *transport = nullptr; ///< set for a backend without channels
  core::Peers *peers = nullptr;              ///< set for a backend with channels
  int device = 0;                            ///< index among the backend's devices
};

struct Settings {
  double seconds = 60;             ///< approximate time for all measurements together
  std::vector<std::int64_t> sizes; ///< ascending multiples of 4; the first points of each curve
  std::vector<Scheme> schemes;     ///< at least one of usableSchemes()
  int ranksPerNode = 1;            ///< ranks [i·n, (i+1)·n) share a node; divides the ranks
  int threads = 1;
  core::Precision precision = core::Precision::fp32;
  bool sharesDevice = false;
};

/// The schemes that can be measured: those of the backend's own channels, or those
/// of Collectives.h.
std::vector<Scheme> usableSchemes(const core::Backend &backend, int ranks,
                                  const Settings &settings);

/// The instruments, which all ranks use together.
struct Instruments {
  // Members are destroyed from the last to the first, so that users come after what they use.
  std::unique_ptr<Team> team;
  std::unique_ptr<Device> device;
  std::unique_ptr<Pairs> pairs; ///< null for a backend with its own channels
  Messages messages;            ///< in the order of Settings::schemes
  /// Opens the measurement beside messages by a scheme that sums. It must not outlive the others.
  std::function<Result<std::unique_ptr<Overlap>>(Scheme)> openOverlap;
  std::unique_ptr<LatencyOverlap> latencyOverlap; ///< null for a backend with its own channels
  std::unique_ptr<transport::Transport>
      node; ///< the ranks of this node; null unless its ring is measured
  std::unique_ptr<Team> nodeTeam;
  std::optional<TimedScheme> nodeRing;

  /// Opens all instruments. All ranks call it together with the same settings. Errors: peerLost;
  /// badInput where memory is short or the backend's channels cannot be opened.
  static Result<Instruments> open(const Site &site, const Settings &settings);

private:
  Status openDevice(const Site &site, const Settings &settings);
  Status openOnHost(const Site &site, const Settings &settings);
  Status openOnDevice(const Site &site, const Settings &settings);
};

} // namespace syncline::calibrate
