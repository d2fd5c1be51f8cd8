// Dividing a run's state into parts, and the parts among the ranks.
#include "runtime/run/checkpoint/CheckpointState.h"

#include <algorithm>
#include <tuple>

namespace syncline::run {

using Kind = CheckpointKey::Kind;

CheckpointState::CheckpointState(Source from) : source(std::move(from)) {
  addTensors();
  addMoments();
  for (std::size_t i = 0; i < source.exchanges.size(); ++i) {
    Piece &piece = pieces.emplace_back();
    piece.key = {Kind::exchange, "", static_cast<int>(i), 0};
    piece.bytes = static_cast<std::int64_t>(source.exchanges[i].bytes());
    piece.exchange = source.exchanges[i];
  }
  isOwn.resize(pieces.size(), true);
  chooseSaved();
}

void CheckpointState::addTensors() {
  const auto tensors = source.executable.tensors();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const core::StepTensor &t = tensors[i];
    const bool isParameter = t.space == Space::parameters;
    if (!isParameter && (t.space != Space::state || source.constants.contains(t.name)))
      continue;
    Piece &piece = pieces.emplace_back();
    piece.key = {isParameter ? Kind::parameter : Kind::state, t.name, 0, 0};
    piece.bytes = core::elementCount(t.shape) * core::elementBytes(t.type);
    piece.tensor = static_cast<int>(i);
    isOwn.push_back(!isParameter || !source.hasEqualWeights);
  }
}

/// Cuts the stretches of moments at the parameters' bounds, so that other plans find them.
void CheckpointState::addMoments() {
  for (const core::StateInterval &all : source.executable.stateIntervals())
    for (const core::StepTensor &t : source.executable.tensors()) {
      if (t.space != Space::parameters)
        continue;
      const std::int64_t begin = std::max(all.begin, t.offset),
                         end = std::min(all.begin + all.bytes, t.offset + t.reserved);
      if (begin >= end)
        continue;
      Piece &piece = pieces.emplace_back();
      piece.key = {Kind::optimizer, t.name, all.slot, begin - t.offset};
      piece.bytes = end - begin;
      piece.interval = {all.slot, begin, end - begin};
      isOwn.push_back(!source.hasEqualWeights || isSharded(begin));
    }
}

/// Whether only one rank has the moments of this byte.
bool CheckpointState::isSharded(std::int64_t begin) const {
  return source.ranks > 1 &&
         std::ranges::any_of(source.executable.buckets(), [&](const core::Bucket &bucket) {
           return bucket.scheme == Scheme::reduceScatter && begin >= bucket.offset &&
                  begin < bucket.offset + bucket.extent;
         });
}

/// Gives each piece that all ranks have, the longest first, to the rank with the fewest bytes.
/// Every rank computes the same division.
void CheckpointState::chooseSaved() {
  std::vector<std::size_t> common;
  for (std::size_t i = 0; i < pieces.size(); ++i)
    (isOwn[i] ? saved : common).push_back(i);
  std::ranges::sort(common, std::less(),
                    [&](std::size_t i) { return std::tuple(-pieces[i].bytes, pieces[i].key); });
  std::vector<std::int64_t> bytes(static_cast<std::size_t>(source.ranks));
  for (std::size_t i : common) {
    const auto least = std::ranges::min_element(bytes);
    *least += pieces[i].bytes;
    if (least - bytes.begin() == source.rank)
      saved.push_back(i);
  }
}

std::vector<CheckpointPart> CheckpointState::parts() const {
  std::vector<CheckpointPart> all;
  for (std::size_t i : saved)
    all.push_back(
        {pieces[i].key, std::vector<std::byte>(static_cast<std::size_t>(pieces[i].bytes))});
  return all;
}

Status CheckpointState::read(const Piece &piece, std::span<std::byte> to) {
  switch (piece.key.kind) {
  case Kind::parameter:
  case Kind::state:
    return source.executable.read(piece.tensor, to);
  case Kind::optimizer:
    return source.executable.readState(piece.interval, to);
  case Kind::exchange:
    if (!piece.exchange.weights.empty())
      return source.executable.weights().read(piece.exchange.weights, to);
    std::ranges::copy(piece.exchange.own, to.begin());
    return Status::ok();
  }
  return Status::ok();
}

Status CheckpointState::write(const Piece &piece, std::span<const std::byte> from) {
  switch (piece.key.kind) {
  case Kind::parameter:
  case Kind::state:
    return source.executable.write(piece.tensor, from);
  case Kind::optimizer:
    return source.executable.writeState(piece.interval, from);
  case Kind::exchange:
    if (!piece.exchange.weights.empty())
      return source.executable.weights().write(piece.exchange.weights, from);
    std::ranges::copy(from, piece.exchange.own.begin());
    return Status::ok();
  }
  return Status::ok();
}

Status CheckpointState::save(std::span<CheckpointPart> parts) {
  for (std::size_t i = 0; i < saved.size(); ++i)
    SYNCLINE_TRY(read(pieces[saved[i]], parts[i].bytes));
  return Status::ok();
}

Status CheckpointState::restore(CheckpointReader &reader) {
  std::vector<std::byte> bytes;
  for (const Piece &piece : pieces) {
    const bool isMoment = piece.key.kind == Kind::optimizer;
    if (isMoment && !reader.hasMoments(piece.key.slot))
      continue;
    bytes.resize(static_cast<std::size_t>(piece.bytes));
    SYNCLINE_TRY(isMoment
                     ? reader.readMoment(piece.key.name, piece.key.slot, piece.key.begin, bytes)
                     : reader.read(piece.key, bytes));
    SYNCLINE_TRY(write(piece, bytes));
  }
  return Status::ok();
}

} // namespace syncline::run
