// Opening the data sets that the options name.
#include "runtime/run/RunData.h"

namespace syncline::run {

Status RunData::open(const Options &options, const Plan &plan, int rank) {
  for (auto [where, set] : {std::pair(&options.data, &training), {&options.eval, &test}}) {
    if (where->empty())
      continue;
    Result<data::Dataset> opened = data::Dataset::open(*where, plan.sampleFormat());
    if (!opened)
      return opened.status();
    *set = std::move(*opened);
  }
  if (!training)
    return Status::ok();
  sampler = std::make_unique<data::Sampler>(training->size(), plan.ranks, rank, plan.batch,
                                            options.shuffle, options.seed);
  if (sampler->batchesPerEpoch() == 0)
    return Status::badInput("'" + options.data + "' has " + std::to_string(training->size()) +
                            " samples, fewer than one global batch of " +
                            std::to_string(plan.ranks * plan.batch));
  return Status::ok();
}

std::vector<std::string> RunData::leftOut(const Options &options, const Plan &plan) const {
  std::vector<std::string> texts;
  if (sampler && sampler->dropped() > 0)
    texts.push_back("every epoch leaves out " + std::to_string(sampler->dropped()) + " of " +
                    std::to_string(training->size()) +
                    " samples: they do not fill a global batch of " +
                    std::to_string(plan.ranks * plan.batch));
  return texts;
}

} // namespace syncline::run
