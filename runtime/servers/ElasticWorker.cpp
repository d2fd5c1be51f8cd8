// Exchanging weights with the centre.
#include "runtime/servers/ElasticWorker.h"

#include "runtime/core/Deadline.h"

namespace syncline::servers {

ElasticWorker::ElasticWorker(Client &client, const Elastic &elastic, WorkerOptions options)
    : ServedWorker(client, std::move(options)), elastic(elastic),
      sent(this->options.weights.size()), centre(sent.size()) {}

Status ElasticWorker::begin() {
  if (options.isFirst)
    SYNCLINE_TRY(client.initialise(options.weights));
  if (!elastic.takesTurns)
    return Status::ok();
  ++unanswered;
  return client.tick(0, 0);
}

Status ElasticWorker::beforeStep(std::int64_t number) {
  // Where workers do not take turns, nobody is held, and answers may come one step late.
  SYNCLINE_TRY(takeGrants(elastic.takesTurns ? 0 : 1));
  if (!isDue(number))
    return Status::ok();
  std::ranges::copy(options.weights, sent.begin());
  exchange =
      courier.add([this, number] { return client.elastic(sent, centre, number, elastic.share); });
  return elastic.takesTurns ? wait() : Status::ok();
}

Status ElasticWorker::afterStep(std::int64_t number) {
  clock = number + 1;
  if (isDue(number)) {
    SYNCLINE_TRY(wait());
    const auto share = static_cast<float>(elastic.share);
    for (std::size_t i = 0; i < sent.size(); ++i)
      options.weights[i] -= share * (sent[i] - centre[i]);
  }
  // A turn lasts until the next exchange.
  if (elastic.takesTurns && !isDue(clock))
    return Status::ok();
  ++unanswered;
  return client.tick(clock, options.signal());
}

Status ElasticWorker::takeGrants(std::int64_t late) {
  const auto start = core::Clock::now();
  for (; unanswered > late; --unanswered) {
    SYNCLINE_TRY_GET(grant, client.awaitGrant());
    if (grant->signal != 0)
      signal = grant->signal;
    counts.largestLead = std::max(counts.largestLead, grant->lead);
  }
  counts.waited += core::secondsSince(start);
  return Status::ok();
}

Status ElasticWorker::wait() {
  const auto start = core::Clock::now();
  Status s = courier.wait(exchange);
  counts.waited += core::secondsSince(start);
  return s;
}

Status ElasticWorker::finish() {
  if (!elastic.takesTurns)
    SYNCLINE_TRY(takeGrants(0));
  courier.add([this] { return client.leave(); });
  courier.add([this] { return client.read(centre, clock, allHaveLeft).status(); });
  SYNCLINE_TRY(client.leaveKeeper(options.signal()));
  SYNCLINE_TRY(courier.waitForAll());
  std::ranges::copy(centre, options.weights.begin());
  return Status::ok();
}

} // namespace syncline::servers
