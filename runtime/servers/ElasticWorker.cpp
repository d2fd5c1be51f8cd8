// Exchanging weights with the centre.
#include "runtime/servers/ElasticWorker.h"

#include "runtime/core/Deadline.h"

namespace syncline::servers {

ElasticWorker::ElasticWorker(Client &client, const Elastic &elastic, WorkerOptions options)
    : client(client), elastic(elastic), options(std::move(options)),
      sent(this->options.weights.size()), centre(sent.size()) {}

Status ElasticWorker::begin() {
  if (options.isFirst)
    if (Status s = client.initialise(options.weights); !s)
      return s;
  if (!elastic.takesTurns)
    return Status::ok();
  ++unanswered;
  return client.tick(0, 0);
}

Status ElasticWorker::beforeStep(std::int64_t number) {
  // Where workers do not take turns, nobody is held, and answers may come one step late.
  if (Status s = takeGrants(elastic.takesTurns ? 0 : 1); !s)
    return s;
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
    if (Status s = wait(); !s)
      return s;
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
    const Result<Grant> grant = client.awaitGrant();
    if (!grant)
      return grant.status();
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
    if (Status s = takeGrants(0); !s)
      return s;
  courier.add([this] { return client.leave(); });
  courier.add([this] { return client.read(centre, clock, allHaveLeft).status(); });
  if (Status s = client.leaveKeeper(options.signal()); !s)
    return s;
  if (Status s = courier.waitForAll(); !s)
    return s;
  std::ranges::copy(centre, options.weights.begin());
  return Status::ok();
}

} // namespace syncline::servers
