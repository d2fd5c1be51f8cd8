// Look-ups in an explanation's alternatives.
#include "passes/explain/Explanation.h"

#include <algorithm>

namespace syncline::explain {

const Alternative *Explanation::chosenOne() const {
  auto found = std::ranges::find(alternatives, true, &Alternative::isChosen);
  return found == alternatives.end() ? nullptr : &*found;
}

const Alternative *Explanation::nextBest() const {
  const Alternative *best = nullptr;
  for (const Alternative &alternative : alternatives)
    if (!alternative.isChosen && alternative.finish &&
        (!best || *alternative.finish < *best->finish))
      best = &alternative;
  return best;
}

} // namespace syncline::explain
