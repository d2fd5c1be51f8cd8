// Leaves factor options out.
#include "passes/solver/Gathering.h"

namespace syncline::solver {

Result<Problem> withoutGathering(const Problem &problem) {
  Problem sums = problem;
  for (Layer &layer : sums.layers)
    if (layer.mergeClasses != 0)
      layer.factorOptions.clear();
  for (Layer &layer : sums.layers)
    if (layer.carrier && sums.layers[*layer.carrier].factorOptions.empty())
      layer.carrier.reset();
  SYNCLINE_TRY(validate(sums));
  return sums;
}

Problem withDearGathering(const Problem &problem, double times) {
  Problem dear = problem;
  for (Layer &layer : dear.layers)
    for (FactorOption &option : layer.factorOptions) {
      option.seconds *= times;
      option.reconstruct *= times;
      option.lost *= times;
    }
  return dear;
}

} // namespace syncline::solver
