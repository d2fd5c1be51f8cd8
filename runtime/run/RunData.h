// The samples of a run: what it trains on, in which order, and what it evaluates on.
#pragma once

#include "runtime/data/Dataset.h"
#include "runtime/run/options/Options.h"
#include "runtime/run/plan/Plan.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace syncline::run {

struct RunData {
  std::optional<data::Dataset> training, test; ///< none without '--data' and '--eval'
  std::unique_ptr<data::Sampler> sampler;      ///< null without `training`

  /// A rank, and its samples of a step.
  struct OfRank {
    int rank;
    data::BatchShare samples;
  };

  /// Opens what the options name, for this rank; `lengths` is empty for a plan of one. Errors:
  /// those of Dataset::open(); badInput for fewer samples than a global batch has, and for images
  /// to evaluate on in other classes than those to train on.
  Status open(const Options &options, const Plan &plan, const OfRank &own,
              const data::Lengths &lengths = {});
  /// 0 for synthetic samples.
  std::int64_t batchesPerEpoch() const { return sampler ? sampler->batchesPerEpoch() : 0; }
  /// "1437 samples, 360 to evaluate on", which must be equal on all ranks.
  std::string sizes() const;
  /// One sentence for the numbers of the classes, where folders are classes, and for each kind of
  /// samples that training does not see, where a step takes so many of all ranks.
  std::vector<std::string> notes(const Options &options, const Plan &plan,
                                 std::int64_t ofStep) const;
  /// How many steps of an epoch each of the `count` lengths has: one each for synthetic samples.
  std::vector<std::int64_t> stepsByLength(std::size_t count) const;
  /// "an epoch has 40 steps of seq=128 and 12 of seq=256; 7.4 % of its places are padded, inputs by
  /// zeros": what the files pad themselves is not counted. Precondition: `training`.
  std::string lengthsText(const data::Lengths &lengths) const;

private:
  Status compareClasses(const Options &options) const;
};

} // namespace syncline::run
