// Sums over steps and ranks.
#include "runtime/run/LossExchange.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstddef>

namespace syncline::run {

/// A rank that hangs up counts this much among those that were interrupted: more than all of them,
/// and exact in the sum. One number more would lengthen every message.
static constexpr double hangUp = 4294967296;

bool LossExchange::OwnStep::isFinite() const { return isUpdateFinite && std::isfinite(loss); }

void LossExchange::add(const OwnStep &own) {
  unsent.loss += own.loss;
  unsent.lastLoss = own.loss;
  unsent.notFinite = std::max(unsent.notFinite, own.isFinite() ? 0.0 : 1.0);
  unsent.interrupted = own.stopSignal == SIGINT ? 1 : own.stopSignal == SIGHUP ? hangUp : 0;
  unsent.terminated = own.stopSignal == SIGTERM ? 1 : 0;
  ++unsentSteps;
  lastAdded = own.step;
  if (!own.isFinite() && !notFinite)
    notFinite = own;
}

Status LossExchange::issue(std::size_t bytes) {
  if (!channel)
    return Status::ok();
  return channel->issue(core::lossMessage, &shared, bytes, ElementType::f64, scheme);
}

Status LossExchange::send() {
  shared = unsent;
  sharedSteps = unsentSteps;
  lastSent = lastAdded;
  unsent = {};
  unsentSteps = 0;
  isUnderWay = true;
  return issue(sharedSteps > 1 ? sizeof shared : offsetof(Sums, lastLoss));
}

Status LossExchange::receive() {
  if (!isUnderWay)
    return Status::ok();
  if (channel)
    SYNCLINE_TRY(channel->wait(core::lossMessage));
  isUnderWay = false;
  received.push_back({.step = lastSent,
                      .loss = shared.loss / (static_cast<double>(sharedSteps) * ranks),
                      .steps = sharedSteps,
                      .lastLoss = (sharedSteps > 1 ? shared.lastLoss : shared.loss) / ranks,
                      .notFinite = static_cast<int>(shared.notFinite),
                      .stopSignal = stopSignal()});
  return Status::ok();
}

/// The signal of the message that has arrived. SIGTERM goes before SIGHUP and that before SIGINT.
int LossExchange::stopSignal() const {
  if (shared.terminated > 0)
    return SIGTERM;
  return shared.interrupted >= hangUp ? SIGHUP : shared.interrupted > 0 ? SIGINT : 0;
}

Status LossExchange::settle() {
  SYNCLINE_TRY(receive());
  if (unsentSteps == 0)
    return Status::ok();
  SYNCLINE_TRY(send());
  return receive();
}

Result<int> LossExchange::count(bool met) {
  shared = {.notFinite = met ? 1.0 : 0.0};
  SYNCLINE_TRY(issue(offsetof(Sums, lastLoss)));
  if (channel)
    SYNCLINE_TRY(channel->wait(core::lossMessage));
  return static_cast<int>(shared.notFinite);
}

} // namespace syncline::run
