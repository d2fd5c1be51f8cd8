// Barriers and small exchanges over links of their own.
#include "runtime/calibrate/Team.h"

#include <algorithm>

namespace syncline::calibrate {

Result<std::unique_ptr<Team>> Team::create(Transport &transport, const std::string &name) {
  // Of all schemes it lets its ranks go nearest to each other.
  auto barrier = createAllReduce("recursive-doubling", transport, name + "/barrier", {});
  if (!barrier)
    return barrier.status();
  auto ring = Ring::create(transport, name + "/share");
  if (!ring)
    return ring.status();
  return std::unique_ptr<Team>(new Team(transport, std::move(*barrier), std::move(*ring)));
}

Status Team::align() {
  float token = 1;
  return barrier->run(&token, sizeof token, ElementType::f32);
}

Result<std::vector<double>> Team::share(double own) {
  struct Values {
    double own, now;
  };
  std::vector<Values> all(size());
  all[rank()] = {own, secondsSince(start)};
  const std::vector<std::size_t> sizes(size(), sizeof(Values));
  if (Status s = ring->allGather(all.data(), sizes); !s)
    return s;
  agreedNow = all[0].now;
  std::vector<double> values;
  for (const Values &each : all)
    values.push_back(each.own);
  return values;
}

Result<double> Team::slowest(double own) {
  Result<std::vector<double>> all = share(own);
  return all ? Result<double>(*std::max_element(all->begin(), all->end())) : all.status();
}

} // namespace syncline::calibrate
