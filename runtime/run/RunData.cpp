// Opening the data sets that the options name.
#include "runtime/run/RunData.h"

#include "runtime/core/Formatted.h"
#include "runtime/run/Evaluation.h"

#include <algorithm>
#include <numeric>

namespace syncline::run {

Status RunData::open(const Options &options, const Plan &plan, const OfRank &own,
                     const data::Lengths &lengths) {
  for (auto [where, set] : {std::pair(&options.data, &training), {&options.eval, &test}}) {
    if (where->empty())
      continue;
    const bool isTraining = set == &training;
    Result<data::Dataset> opened =
        data::Dataset::open(*where, plan.sampleFormat(),
                            isTraining ? options.images : options.images.forEvaluation(), lengths);
    if (!opened && plan.ranks > 1 && !options.alone)
      return Status::error(opened.status().kind(),
                           "rank " + std::to_string(own.rank) + ": " + opened.status().message());
    if (!opened)
      return opened.status();
    *set = std::move(*opened);
  }
  if (training && test)
    SYNCLINE_TRY(compareClasses(options));
  if (test && Evaluation::sizeOf(plan, *test) == 0)
    return Status::badInput("'" + options.eval + "' has " + std::to_string(test->size()) +
                            " samples, fewer than one batch of " + std::to_string(plan.batch) +
                            ", of which the model computes the loss");
  if (!training)
    return Status::ok();
  sampler = std::make_unique<data::Sampler>(training->size(), own.samples, options.shuffle,
                                            options.seed, training->lengths());
  if (sampler->batchesPerEpoch() == 0)
    return Status::badInput("'" + options.data + "' has " + std::to_string(training->size()) +
                            " samples, fewer than one global batch of " +
                            std::to_string(own.samples.all));
  return Status::ok();
}

/// A class has the same number in both folders only where all names are the same.
Status RunData::compareClasses(const Options &options) const {
  const auto &a = training->classes(), &b = test->classes();
  if (a.empty() || b.empty() || a == b)
    return Status::ok();
  const auto [inA, inB] = std::ranges::mismatch(a, b);
  const auto text = [](const auto &at, const auto &names) {
    return at == names.end() ? "none" : "'" + *at + "'";
  };
  return Status::badInput("'" + options.data + "' and '" + options.eval +
                          "' have different class folders: number " +
                          std::to_string(inA - a.begin()) + " is " + text(inA, a) + " in one, " +
                          text(inB, b) + " in the other");
}

std::vector<std::int64_t> RunData::stepsByLength(std::size_t count) const {
  std::vector<std::int64_t> steps(count, sampler ? 0 : 1);
  for (std::int64_t step = 0; step < batchesPerEpoch(); ++step)
    ++steps[sampler->at(step).length];
  return steps;
}

std::string RunData::lengthsText(const data::Lengths &lengths) const {
  std::vector<std::string> parts;
  const std::vector<std::int64_t> steps = stepsByLength(lengths.count());
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (steps[i] > 0)
      parts.push_back(std::to_string(steps[i]) +
                      (!parts.empty()  ? " of "
                       : steps[i] == 1 ? " step of "
                                       : " steps of ") +
                      lengths.name() + "=" + std::to_string(lengths.size(i)));
  std::string text = "an epoch has ";
  for (std::size_t i = 0; i < parts.size(); ++i)
    text += (i == 0 ? "" : i + 1 < parts.size() ? ", " : " and ") + parts[i];
  std::int64_t places = 0, filled = 0; // of this rank's samples in the first epoch
  for (std::int64_t step = 0; step < batchesPerEpoch(); ++step) {
    const data::Samples samples = sampler->at(step);
    for (const std::int64_t sample : samples.indices) {
      places += lengths.size(samples.length);
      filled += training->placesOf(sample);
    }
  }
  const double padding = 1 - static_cast<double>(filled) / static_cast<double>(places);
  return text +
         core::formatted("; %.1f %% of its places are padded, inputs by zeros", 100 * padding);
}

std::string RunData::sizes() const {
  std::string labels;
  if (training && training->weighsLabels()) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(training->size()));
    std::iota(all.begin(), all.end(), 0);
    const double weight = training->weightOfLabels(all);
    labels = training->weighsClasses() ? core::formatted(" with labels that weigh %.17g", weight)
                                       : core::formatted(" with %.0f labels that count", weight);
  }
  return (training ? std::to_string(training->size()) : "synthetic") + " samples" + labels +
         (test ? ", " + std::to_string(test->size()) + " to evaluate on" : "");
}

/// "0 is 'cat', 1 'dog', 2 'fox', .., 999 'zebra'".
static std::string numbered(const std::vector<std::string> &classes) {
  constexpr std::size_t shown = 10;
  std::string text;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (i + 1 == classes.size() || i + 1 < shown)
      text += (i ? ", " : "") + std::to_string(i) + (i ? " '" : " is '") + classes[i] + "'";
    else if (i + 1 == shown)
      text += ", ..";
  }
  return text;
}

std::vector<std::string> RunData::notes(const Options &options, const Plan &plan,
                                        std::int64_t ofStep) const {
  std::vector<std::string> texts;
  if (const auto &set = training ? training : test; set && !set->classes().empty())
    texts.push_back("'" + (training ? options.data : options.eval) + "' has " +
                    std::to_string(set->classes().size()) +
                    " classes: " + numbered(set->classes()));
  if (sampler && sampler->dropped() > 0)
    texts.push_back("every epoch leaves out " + std::to_string(sampler->dropped()) + " of " +
                    std::to_string(training->size()) +
                    " samples: they do not fill a global batch of " + std::to_string(ofStep));
  if (const std::int64_t scored = test ? Evaluation::sizeOf(plan, *test) : 0;
      test && scored < test->size())
    texts.push_back("evaluation leaves out " + std::to_string(test->size() - scored) + " of " +
                    std::to_string(test->size()) + " samples: they do not fill a batch of " +
                    std::to_string(plan.batch) + ", of which the model computes the loss");
  for (const auto &[set, where] : {std::pair(&training, &options.data), {&test, &options.eval}})
    if (*set && (*set)->ignoredFiles() > 0)
      texts.push_back("'" + *where + "' has " + std::to_string((*set)->ignoredFiles()) +
                      " files that are left out: their names do not end in .jpg, .jpeg or .png");
  for (const auto &[set, where] : {std::pair(&training, &options.data), {&test, &options.eval}})
    if (*set && (*set)->ignoredFolders() > 0)
      texts.push_back("'" + *where + "' has " + std::to_string((*set)->ignoredFolders()) +
                      " folders in class folders that are left out: images lie directly in the "
                      "class folder");
  return texts;
}

} // namespace syncline::run
