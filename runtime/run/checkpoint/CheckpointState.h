// What a rank saves of a prepared step, and how it takes it back.
#pragma once

#include "runtime/core/Exchanges.h"
#include "runtime/core/Executable.h"
#include "runtime/run/checkpoint/CheckpointReader.h"

#include <set>
#include <span>
#include <string>
#include <vector>

namespace syncline::run {

/// The values of a training run between two steps: parameters, states (each rank has its own), the
/// optimizer's moments, and what exchanges of weights hold.
///
/// Where ranks have equal parameters, each value is saved once: tensors are spread over the ranks,
/// so that each rank copies and writes about the same number of bytes. A moment that only one rank
/// has is saved by that rank. Not thread-safe; used between steps, while no message is under way.
class CheckpointState {
public:
  struct Source {
    core::Executable &executable; ///< its optimizer has its shards
    std::vector<core::ExchangeState> exchanges;
    int rank = 0, ranks = 1;
    bool hasEqualWeights = true; ///< parameters, and moments that are whole, are equal on all ranks
    std::set<std::string> constants = {}; ///< tensors of the state space that the plan keeps itself
  };

  explicit CheckpointState(Source source);

  /// The parts that this rank saves, with room for their bytes.
  std::vector<CheckpointPart> parts() const;
  /// Copies the present values to parts(). Errors: the backend's.
  Status save(std::span<CheckpointPart> parts);
  /// Takes all values of this rank from a checkpoint. Moments of a slot that the checkpoint does
  /// not have stay as they are. Errors: badInput where it lacks a value; the backend's.
  Status restore(CheckpointReader &reader);

private:
  /// Where the bytes of a part come from and go to.
  struct Piece {
    CheckpointKey key;
    std::int64_t bytes = 0;
    int tensor = -1;                ///< of parameters and states
    core::StateInterval interval{}; ///< of moments
    core::ExchangeState exchange{}; ///< of exchanges
  };
  void addTensors();
  void addMoments();
  void chooseSaved();
  bool isSharded(std::int64_t begin) const;
  Status read(const Piece &piece, std::span<std::byte> to);
  Status write(const Piece &piece, std::span<const std::byte> from);

  const Source source;
  std::vector<Piece> pieces;      ///< all that this rank has
  std::vector<bool> isOwn;        ///< by piece: only this rank has it
  std::vector<std::size_t> saved; ///< indices of the pieces that this rank saves
};

} // namespace syncline::run
