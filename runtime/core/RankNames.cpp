// Names of ranks.
#include "runtime/core/RankNames.h"

namespace syncline::core {

std::string RankNames::of(int rank) const {
  const std::string name = "rank " + std::to_string(rank);
  return rank < workers ? name : "server " + std::to_string(rank - workers) + " (" + name + ")";
}

std::string RankNames::of(const std::vector<int> &ranks) const {
  std::string computing, serving;
  int count = 0;
  for (int rank : ranks)
    if (rank < workers)
      computing += (count++ == 0 ? "" : ", ") + std::to_string(rank);
    else
      serving += (serving.empty() ? "" : ", ") + of(rank);
  if (count == 0)
    return serving;
  return (count == 1 ? "rank " : "ranks ") + computing + (serving.empty() ? "" : ", ") + serving;
}

std::string lastCompletedStep(std::int64_t completed) {
  return completed == 0 ? "no step completed"
                        : "last completed step " + std::to_string(completed - 1);
}

} // namespace syncline::core
