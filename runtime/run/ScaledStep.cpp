// The end of a step whose loss is scaled: all gradients are there before the first update.
#include "runtime/run/LateUpdates.h"
#include "runtime/run/Trainer.h"

#include <cmath>

namespace syncline::run {

Status Trainer::scaleLoss(const LossScale &chosen) {
  scale = chosen;
  clips = true;
  return executable.setLossScale(scale->value());
}

/// Adds up the squares of the parts of buckets by "reduce-scatter" that this rank updates.
Status Trainer::addShardSquares() {
  for (const auto &[id, place] : places)
    if (place.scheme == Scheme::reduceScatter)
      if (Status s = executable.addSquares(id); !s)
        return s;
  return Status::ok();
}

/// Whether a gradient of this step is not finite on any rank. Sums have the same bits on all ranks,
/// so that no rank has to ask; but a part of a bucket is on one rank alone.
Result<bool> Trainer::metInfinity() {
  const bool isOwn = !std::isfinite(executable.gradientNorm());
  if (!sums() || !hasShards())
    return isOwn;
  if (Status s = lossExchange->receive(); !s)
    return s;
  const Result<int> ranksWith = lossExchange->count(isOwn);
  if (!ranksWith)
    return ranksWith.status();
  return *ranksWith > 0;
}

bool Trainer::hasShards() const {
  for (const auto &[id, place] : places)
    if (place.scheme == Scheme::reduceScatter)
      return true;
  return false;
}

/// Updates the parts of buckets by "reduce-scatter", and gathers the parameters.
Status Trainer::updateShards() {
  for (const auto &[id, place] : places) {
    if (place.scheme != Scheme::reduceScatter)
      continue;
    if (Status s = executable.updateShard(id); !s)
      return s;
    if (sums())
      if (Status s = issueSharded(id, core::Half::second); !s)
        return s;
  }
  for (const auto &[id, place] : places)
    if (place.scheme == Scheme::reduceScatter && sums())
      if (Status s = place.channel->wait(id); !s)
        return s;
  return Status::ok();
}

Status Trainer::finishScaled() {
  if (Status s = addShardSquares(); !s)
    return s;
  const Result<bool> met = metInfinity();
  if (!met)
    return met.status();
  isSkipped = *met && scale->skips();
  if (isSkipped)
    return Status::ok();
  if (Status s = updateShards(); !s)
    return s;
  return runUpdates(executable);
}

} // namespace syncline::run
