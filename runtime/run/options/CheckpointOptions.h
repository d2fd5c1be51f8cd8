// The switches of checkpoints, and comparing a checkpoint's options with the run's.
#pragma once

#include "runtime/run/plan/Plan.h"

#include <cstdint>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace syncline::run {

struct CheckpointOptions {
  std::string folder;                ///< empty for a run without checkpoints
  std::optional<std::int64_t> every; ///< steps; without it only the end is saved
  std::int64_t keep = 3;
  bool resumes = false;

  bool any() const { return !folder.empty(); }
  void addTo(CLI::App &app);
  /// Ok when runs of this plan can be saved and continued as requested; otherwise badInput.
  Status check(const Plan &plan) const;
  /// The switches that must be equal on all ranks, as text.
  std::string shared() const;
};

/// How the options of a run differ from those of its checkpoint.
struct OptionChanges {
  std::string forbidden; ///< the first difference with which a run cannot go on; empty for none
  std::string changed;   ///< all others: "--lr 0.1 is now 0.01, --nesterov is new"; may be empty
};

/// Compares two texts of options as Options::sharedOptions() writes them.
OptionChanges compareOptions(const std::string &before, const std::string &now);

} // namespace syncline::run
