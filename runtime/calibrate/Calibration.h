// The measurements of a calibration, one after the other.
#pragma once

#include "runtime/calibrate/Findings.h"
#include "runtime/calibrate/Instruments.h"
#include "runtime/calibrate/Progress.h"
#include "runtime/calibrate/Repeat.h"

namespace syncline::calibrate {

/// 1 KiB to 64 MiB by factors of 4.
std::vector<std::int64_t> defaultSizes();

/// All ranks together, with the same settings; every rank finds the same, hosts and versions apart.
class Calibration {
public:
  /// All outlive this object.
  Calibration(const Site &site, const Settings &settings, Progress &progress)
      : site(site), settings(settings), progress(progress) {}

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
  Result<SizeFinding> measureSize(Team &ranks, const TimedScheme &scheme, std::int64_t bytes,
                                  double until);
  Status addSize(std::size_t scheme, std::int64_t bytes, double until);
  Status probe();
  double estimate(std::size_t scheme, std::int64_t bytes) const;
  std::vector<double> minCosts(std::span<const std::int64_t> sizes) const;

  const Site site;
  const Settings &settings;
  Progress &progress;
  Instruments with;
  Team *team = nullptr;      ///< the instruments'
  std::vector<Point> probes; ///< by way: a message of each, timed once
  Findings findings;
};

} // namespace syncline::calibrate
