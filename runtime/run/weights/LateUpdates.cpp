// The end of a step whose updates wait for all gradients, to be clipped by their norm or because
// the loss is scaled.
#include "runtime/run/Trainer.h"

#include <cmath>

namespace syncline::run {

Status Trainer::scaleLoss(const LossScale &chosen) {
  scale = chosen;
  updatesLast = true;
  return executable.setLossScale(scale->value());
}

bool Trainer::hasShards() const {
  for (const auto &[id, place] : places)
    if (place.scheme == Scheme::reduceScatter)
      return true;
  return false;
}

/// Makes the squares of all parts of buckets by "reduce-scatter" known to all ranks, each of which
/// has those of its own part. Of other buckets all ranks have the same squares. An all-reduce gives
/// all ranks the same bits, so that they have one norm and decide alike.
Status Trainer::shareSquares() {
  if (!hasShards())
    return Status::ok();
  const Result<double *> own = executable.shardSquares();
  if (!own || !sums())
    return own.status();
  return share({*own, 1});
}

/// Sums squares over the ranks, between a step's messages.
Status Trainer::share(std::span<double> squares) {
  core::Channel &channel = *channels.at(0); // the loss's, which has an all-reduce in any case
  const Status s = channel.issue(core::squaresMessage, squares.data(), squares.size_bytes(),
                                 ElementType::f64, lossExchange->by());
  return s ? channel.wait(core::squaresMessage) : s;
}

/// Updates the parts of buckets by "reduce-scatter", and gathers the parameters.
Status Trainer::updateShards() {
  core::SumOverRanks sum;
  if (sums())
    sum = [this](std::span<double> squares) { return share(squares); };
  for (const auto &[id, place] : places) {
    if (place.scheme != Scheme::reduceScatter)
      continue;
    SYNCLINE_TRY(executable.updateShard(id, sum));
    if (sums())
      SYNCLINE_TRY(issueSharded(id, core::Half::second));
  }
  for (const auto &[id, place] : places)
    if (place.scheme == Scheme::reduceScatter && sums())
      SYNCLINE_TRY(place.channel->wait(id));
  return Status::ok();
}

/// Runs all update operations, in their order.
Status Trainer::runUpdates() {
  for (std::size_t i = 0; i < executable.operations().size(); ++i)
    if (executable.operations()[i].kind == core::OperationKind::update)
      SYNCLINE_TRY(executable.run(static_cast<int>(i)));
  return Status::ok();
}

Status Trainer::finishUpdates() {
  SYNCLINE_TRY(shareSquares());
  isSkipped = scale && scale->skips() && !std::isfinite(executable.gradientNorm());
  if (isSkipped)
    return Status::ok();
  SYNCLINE_TRY(updateShards());
  return runUpdates();
}

} // namespace syncline::run
