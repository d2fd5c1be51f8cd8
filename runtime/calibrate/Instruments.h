// What a calibration measures with, on whatever backend.
#pragma once

#include "runtime/calibrate/Device.h"
#include "runtime/calibrate/Messages.h"
#include "runtime/calibrate/Overlap.h"
#include "runtime/calibrate/Pairs.h"
#include "runtime/calibrate/Team.h"

#include <optional>

namespace syncline::calibrate {

/// Where it is measured. All outlive the instruments.
struct Site {
  const Backend &backend;
  Transport *transport = nullptr; ///< where the backend has no channels
  Peers *peers = nullptr;         ///< where it has
  int device = 0;                 ///< of the backend's
};

struct Settings {
  double seconds = 60;             ///< for all measurements together; kept to roughly
  std::vector<std::int64_t> sizes; ///< ascending multiples of 4; where curves are measured first
  std::vector<Scheme> schemes;     ///< of usableSchemes(), at least one
  int ranksPerNode = 1;            ///< ranks [i·n, (i+1)·n) share a node; divides the ranks
  int threads = 1;
  Precision precision = Precision::fp32;
  WirePrecision wire = WirePrecision::fp32; ///< of channels that the backend has
  bool sharesDevice = false;
};

/// The schemes that can be measured: of the backend's channels, where it has any; otherwise
/// "hierarchical" only with several nodes of several ranks. In the order in which plans' schemes
/// are listed.
std::vector<Scheme> usableSchemes(const Backend &backend, int ranks, const Settings &settings);

/// All ranks together use them.
struct Instruments {
  // Destroyed from the last: what uses others before these.
  std::unique_ptr<Team> team;
  std::unique_ptr<Device> device;
  std::unique_ptr<Pairs> pairs; ///< null where ranks have no links of their own
  Messages messages;            ///< by Settings::schemes
  std::unique_ptr<Overlap> overlap;
  std::unique_ptr<Transport> node; ///< ranks of this node; null unless its ring is measured
  std::unique_ptr<Team> nodeTeam;
  std::optional<TimedScheme> nodeRing;

  /// All ranks together, with the same settings. Errors: peerLost; badInput where memory is short
  /// or the backend's channels cannot be.
  static Result<Instruments> open(const Site &site, const Settings &settings);

private:
  Status openDevice(const Site &site, const Settings &settings);
  Status openOnHost(const Site &site, const Settings &settings);
  Status openOnDevice(const Site &site, const Settings &settings);
};

} // namespace syncline::calibrate
