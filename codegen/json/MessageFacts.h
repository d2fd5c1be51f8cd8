// What a problem says about the messages of its solutions, looked up fast.
#pragma once

#include "ir/sync/Sync.h"

#include "llvm/ADT/DenseMap.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>

namespace syncline::codegen {

/// Refers to the problem, which must outlive it.
class MessageFacts {
public:
  MessageFacts(sync::ProblemOp problem, sync::SolutionOp solution);

  /// Bytes that a node moves for the message, or nothing where the problem does not offer it.
  std::optional<double> traffic(sync::MessageAttr message) const;

  /// Seconds of computation that the message takes at most, in the planner's model.
  double lost(sync::MessageAttr message) const;

  /// The names of the message's layers, and of those that ride with it.
  nlohmann::json members(sync::MessageAttr message) const;

  /// The size of these members; of layers that are cut, what the message carries.
  std::int64_t memberBytes(sync::MessageAttr message) const;

private:
  /// The layers that ride with the message.
  llvm::SmallVector<std::int64_t> piggybacksOf(sync::MessageAttr message) const;

  /// Null where the message does not travel by factors, or the problem does not offer it.
  sync::FactorOptionAttr factorOptionOf(sync::MessageAttr message) const;

  /// Null where the message travels by factors, or the problem does not offer it.
  sync::OptionAttr optionOf(sync::MessageAttr message) const;

  sync::ProblemOp problem;
  /// Whether the planner's model tells classes of operations apart; that of an order does not.
  bool byClass;
  llvm::DenseMap<std::pair<std::int64_t, int>, sync::FactorOptionAttr>
      factorOptions;                                                        ///< by layer and scheme
  llvm::DenseMap<std::int64_t, llvm::SmallVector<std::int64_t>> piggybacks; ///< by carrier
};

} // namespace syncline::codegen
