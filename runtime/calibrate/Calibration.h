// The sequence of a calibration's measurements.
#pragma once

#include "runtime/calibrate/Findings.h"
#include "runtime/calibrate/Instruments.h"
#include "runtime/calibrate/Progress.h"
#include "runtime/calibrate/Repeat.h"

namespace syncline::calibrate {

/// The default message sizes: 1 KiB to 64 MiB by factors of 4.
std::vector<std::int64_t> defaultSizes();

/// Runs on all ranks together with the same settings. Every rank gets the same findings except for
/// hosts and conditions.
class Calibration {
public:
  /// The arguments outlive this object.
  Calibration(const Site &site, const Settings &settings, Progress &progress)
      : site(site), settings(settings), progress(progress) {}

  /// Runs all measurements. Errors: peerLost, naming the measurement; badInput where memory
  /// is short.
  Result<Findings> run();

private:
  Status open();
  Status measureDevice();
  Status measurePairs();
  Status measureInside();
  Status measureOverlap();
  Result<Interference> measureOverlap(Scheme scheme, double until);
  Status measureGrid();
  Status refine();
  Status measureMessages();

  /// The time at which the next of `measurements` measurements must end, if they share the time
  /// until `until` equally.
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
  Team *team = nullptr;      ///< the instruments' team
  std::vector<Point> probes; ///< one timed message of each scheme
  Findings findings;
};

} // namespace syncline::calibrate
