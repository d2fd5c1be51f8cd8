// `--tune-convolutions`: choosing kernels by time before the first step, one choice for all ranks,
// and the file that keeps it for later runs.
#pragma once

#include "runtime/core/Backend.h"
#include "runtime/run/plan/Plan.h"
#include "runtime/transport/Group.h"

#include <string>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace syncline::run {

/// One rank's step, before it runs.
struct KernelRun {
  const core::Backend &backend;
  core::Executable &executable;
  const Plan &plan;
  transport::Group *group; ///< null for a rank without others
  double seconds;          ///< how long the other ranks wait for rank 0's choice
};

struct ChosenKernels {
  std::vector<core::KernelChoice::Kernel> kernels;
  std::string note; ///< what people should know; may be empty
};

class KernelFlags {
public:
  void addTo(CLI::App &app, const std::string &group);
  bool isGiven() const { return value != usual; }
  bool isOn() const { return value != "off"; }
  /// The file that the command line names; empty where it names none.
  std::string ownFile() const { return isOn() && isGiven() ? value : ""; }
  /// The flag as an option that must be equal on all ranks. Only rank 0 uses the file.
  std::string shared() const { return isOn() ? "" : " --tune-convolutions off"; }

  /// Rank 0 takes the kernels of the file, times what is missing there and adds it; the others take
  /// rank 0's. All ranks call it. Errors: badInput for a file that is not such a table, or that the
  /// command line names and that cannot be written; peerLost.
  Result<ChosenKernels> choose(const KernelRun &run) const;

private:
  static constexpr const char *usual = "on";

  Result<ChosenKernels> chooseFirst(const KernelRun &run, std::string &table) const;

  std::string value = usual;
};

} // namespace syncline::run
