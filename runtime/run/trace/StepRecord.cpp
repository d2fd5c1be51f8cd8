// Times of requests within a step.
#include "runtime/run/trace/StepRecord.h"

#include <algorithm>

namespace syncline::run {

void StepRecord::add(const std::vector<core::ServerRequest> &asked) {
  const auto since = [this](core::Clock::time_point time) {
    return std::chrono::duration<double>(time - start).count();
  };
  for (const core::ServerRequest &r : asked) {
    Request &added =
        requests.emplace_back(Request{r.kind, r.clock, {since(r.begin), since(r.end)}, {}});
    if (r.held > 0) {
      const double until = since(r.answered);
      added.held = {std::max(added.whole.begin, until - r.held), until};
    }
  }
}

} // namespace syncline::run
