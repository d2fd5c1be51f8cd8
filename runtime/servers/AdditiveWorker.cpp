// Pushing updates, and reading what other workers pushed.
#include "runtime/servers/AdditiveWorker.h"

#include "runtime/core/Deadline.h"

#include <string>

namespace syncline::servers {

AdditiveWorker::AdditiveWorker(Client &client, const Bounds &bounds, int workers,
                               WorkerOptions options)
    : ServedWorker(client, std::move(options)), bounds(bounds),
      share(1.0F / static_cast<float>(workers)),
      base(this->options.weights.begin(), this->options.weights.end()),
      updates{std::vector<float>(base.size()), std::vector<float>(base.size())},
      atRead(base.size()), answer(base.size()) {}

Status AdditiveWorker::begin() {
  return options.isFirst ? client.initialise(options.weights) : Status::ok();
}

Status AdditiveWorker::beforeStep(std::int64_t number) {
  clock = number;
  // Without bounds a worker need not know what others do: the answer may come one step late.
  const std::int64_t late = bounds.upper == Bounds::none ? 1 : 0;
  while (unanswered > late)
    SYNCLINE_TRY(takeGrant());
  if (read != 0 && courier.isDone(read))
    SYNCLINE_TRY(takeRead());
  SYNCLINE_TRY(refresh(std::max<std::int64_t>(clock - bounds.upper, 0)));
  counts.largestStaleness = std::max(counts.largestStaleness, clock - cached);
  counts.staleness += clock - cached;
  ++counts.steps;
  std::ranges::copy(options.weights, base.begin());
  return Status::ok();
}

/// Waits until the weights contain the steps of all workers up to clock `need`, and starts the read
/// of a later step.
Status AdditiveWorker::refresh(std::int64_t need) {
  while (cached < need) {
    if (read == 0)
      startRead();
    const bool isLatest = readClock == clock;
    SYNCLINE_TRY(takeRead());
    if (isLatest && cached < need)
      return Status::error(ErrorKind::internal,
                           "the weights before step " + std::to_string(clock) +
                               " contain the steps of all workers up to step " +
                               std::to_string(cached) + " only, expected up to " +
                               std::to_string(need));
  }
  if (read == 0 && readClock < clock)
    startRead();
  return Status::ok();
}

Status AdditiveWorker::takeGrant() {
  const auto start = core::Clock::now();
  const Result<Grant> grant = client.awaitGrant();
  counts.waited += core::secondsSince(start);
  if (!grant)
    return grant.status();
  --unanswered;
  least = grant->least;
  if (grant->signal != 0)
    signal = grant->signal;
  counts.largestLead = std::max(counts.largestLead, grant->lead);
  if (grant->lead > bounds.upper)
    return Status::error(ErrorKind::internal,
                         "a worker may begin a step with a lead of " + std::to_string(grant->lead) +
                             " steps, expected at most " + std::to_string(bounds.upper));
  return Status::ok();
}

void AdditiveWorker::startRead() {
  std::ranges::copy(options.weights, atRead.begin());
  readClock = clock;
  const std::int64_t need = bounds.upper == Bounds::none ? 0 : least;
  read = courier.add([this, at = clock, need] {
    const Result<std::int64_t> found = client.read(answer, at, need);
    contained = found ? std::min(*found, at) : 0;
    return found.status();
  });
}

Status AdditiveWorker::takeRead() {
  SYNCLINE_TRY(wait(read));
  read = 0;
  cached = contained;
  const std::span<float> weights = options.weights;
  if (readClock == clock)
    std::ranges::copy(answer, weights.begin());
  else
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i] += answer[i] - atRead[i];
  return Status::ok();
}

Status AdditiveWorker::wait(std::uint64_t job) {
  const auto start = core::Clock::now();
  Status s = courier.wait(job);
  counts.waited += core::secondsSince(start);
  return s;
}

Status AdditiveWorker::afterStep(std::int64_t number) {
  clock = number + 1;
  SYNCLINE_TRY(client.tick(clock, options.signal()));
  ++unanswered;
  const auto turn = static_cast<std::size_t>(number % 2);
  SYNCLINE_TRY(wait(pushes[turn]));
  std::vector<float> &update = updates[turn];
  for (std::size_t i = 0; i < update.size(); ++i) {
    update[i] = share * (options.weights[i] - base[i]);
    options.weights[i] = base[i] + update[i];
  }
  pushes[turn] = courier.add([this, &update, at = clock] { return client.push(update, at); });
  return Status::ok();
}

Status AdditiveWorker::finish() {
  while (unanswered > 0)
    SYNCLINE_TRY(takeGrant());
  SYNCLINE_TRY(client.leaveKeeper(options.signal()));
  courier.add([this] { return client.leave(); });
  courier.add([this] { return client.read(answer, clock, allHaveLeft).status(); });
  SYNCLINE_TRY(courier.waitForAll());
  std::ranges::copy(answer, options.weights.begin());
  return Status::ok();
}

} // namespace syncline::servers
