// Scenario: what is simulated, as plain structs: every rank's operations in issue order, the
// messages, and the machines that they run on.
//
// Units: seconds and bytes. No MLIR here: ReadScenario.h makes scenarios from plans.
#pragma once

#include "passes/problem/CollectiveCost.h"
#include "syncline/Status.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace syncline::simulate {

enum class Phase { forward, backward, update };

/// One thing that a rank's compute stream does.
struct Operation {
  enum class Kind {
    compute, ///< takes `seconds`
    issue,   ///< hands a message to its channel
    wait,    ///< until the message has arrived
    update,  ///< of the parameters that a message brought gradients for; takes `seconds`
  };
  Kind kind = Kind::compute;
  Phase phase = Phase::forward;
  std::string layer = {}; ///< of compute
  double seconds = 0;     ///< on a rank without slowdown
  int message = -1;       ///< of issue, wait and update: index into Scenario::messages
};

struct Message {
  std::string name = {}; ///< for people: what travels
  Scheme scheme = Scheme::ring;
  std::int64_t bytes = 0; ///< of the gradients; of factors, what one rank contributes
  int channel = 0;
  /// What a planner takes the message to cost on these machines. Where it is measured (isStated) it
  /// is what the message takes, from when all ranks have it at hand; also where unfolding it would
  /// be too long.
  std::shared_ptr<const problem::CollectiveCost> cost = nullptr;
  bool isStated = false;
  double shardUpdate = 0; ///< seconds per byte between the halves of a reduce-scatter
};

/// Ranks n * devicesPerNode and on are node n's.
struct Machines {
  int ranks = 1;
  int devicesPerNode = 1;
  int cardsPerNode = 1;
  std::optional<problem::LinkRates> network = {};     ///< of one card
  std::optional<problem::LinkRates> inside = {};      ///< of each device, to the others of its node
  bool halfDuplex = false;                            ///< of the network
  std::map<int, problem::LinkRates> nodeNetwork = {}; ///< where a node's differs

  int servers = 0;        ///< parameter servers; 0: one beside every rank
  bool dedicated = false; ///< on machines of their own, each with a serverLink
  problem::LinkRates serverLink = {};
  std::int64_t serverPiece = 1 << 20; ///< dedicated servers pull one piece while the next is pushed

  /// How much longer than stated a rank's operations take; all 1 where empty.
  std::vector<double> slowdown = {};
  /// What a rank has of the samples that the others have in a step: its passes take so much less,
  /// updates and what is reconstructed do not; all 1 where empty.
  std::vector<double> share = {};
  /// How many times as long a rank's operations take while a message is under way on one of its
  /// channels: from its start there (of one that takes its cost, from when all ranks have it at
  /// hand) to its end on this rank. At least 1; several messages are no worse than one.
  double interference = 1;

  int nodes() const { return (ranks + devicesPerNode - 1) / devicesPerNode; }
  int nodeOf(int rank) const { return rank / devicesPerNode; }
  const problem::LinkRates &networkOf(int node) const;
  double slowdownOf(int rank) const {
    return slowdown.empty() ? 1 : slowdown[static_cast<std::size_t>(rank)];
  }
  double shareOf(int rank) const {
    return share.empty() ? 1 : share[static_cast<std::size_t>(rank)];
  }
};

struct Scenario {
  std::vector<Operation> operations; ///< of one step of any rank
  std::vector<Message> messages;
  Machines machines;
  int steps = 1;
  /// Every operation of every rank takes up to so much longer or shorter, evenly distributed.
  double jitter = 0;
  std::uint64_t seed = 0;
  /// Where the messages would unfold into more parts than this, each takes its `cost` instead.
  double maxTasks = 4e7;
};

/// badInput unless numbers are finite and in range, every message is issued once and waited for
/// after that, and the machines allow its scheme or state its cost.
Status validate(const Scenario &scenario);

} // namespace syncline::simulate
