// The measurements of a calibration, one after the other.
#pragma once

#include "runtime/calibrate/Device.h"
#include "runtime/calibrate/Findings.h"
#include "runtime/calibrate/Overlap.h"
#include "runtime/calibrate/Pairs.h"
#include "runtime/calibrate/Progress.h"
#include "runtime/calibrate/Repeat.h"
#include "runtime/calibrate/Transfers.h"

namespace syncline::calibrate {

struct Settings {
  double seconds = 60;              ///< for all measurements together; kept to roughly
  std::vector<std::int64_t> sizes;  ///< ascending multiples of 4; where curves are measured first
  std::vector<std::string> schemes; ///< of usableSchemes(), at least one
  int ranksPerNode = 1;             ///< ranks [i·n, (i+1)·n) share a node; divides the ranks
  int threads = 1;
};

/// 1 KiB to 64 MiB by factors of 4.
std::vector<std::int64_t> defaultSizes();

/// All ranks together, with the same settings; every rank finds the same, hosts and versions apart.
class Calibration {
public:
  /// `transport` and `progress` outlive this object.
  Calibration(Transport &transport, const Settings &settings, Progress &progress)
      : transport(transport), settings(settings), progress(progress) {}

  /// Errors: peerLost, saying what was being measured; badInput where memory is short.
  Result<Findings> run();

private:
  Status open();
  Status measureDevice();
  Status measurePairs();
  Status measureInside();
  Status measureOverlap();
  Status measureGrid();
  Status refine();
  Status measureMessages();

  /// Seconds until `until`, shared among so many measurements.
  double deadline(double until, int measurements) const;
  Result<KernelFinding> measureKernel(const Kernel &kernel, double until);
  Result<SizeFinding> measureSize(Team &among, const Collective &by, std::int64_t bytes,
                                  double until);
  Status addSize(std::size_t scheme, std::int64_t bytes, double until);
  Status probe();
  double estimate(std::size_t scheme, std::int64_t bytes) const;
  std::vector<double> leastCosts(std::span<const std::int64_t> sizes) const;

  Transport &transport;
  const Settings &settings;
  Progress &progress;
  std::unique_ptr<Team> team;
  std::unique_ptr<Device> device;
  std::unique_ptr<Pairs> pairs;
  std::unique_ptr<Overlap> overlap;
  std::vector<Collective> collectives; ///< as Findings::schemes
  std::vector<Point> probes;           ///< likewise: a message of each, timed once
  std::vector<Collective> second;      ///< one, on links of its own
  std::unique_ptr<Transport> node;     ///< ranks of this node; null without nodes of several ranks
  std::unique_ptr<Team> nodeTeam;
  std::vector<Collective> nodeRing;
  Findings findings;
};

} // namespace syncline::calibrate
