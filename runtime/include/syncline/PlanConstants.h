// Numbers on which the compiler and the runtime must agree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace syncline {

/// The `schema` of plan.json. Raise it whenever a reader of the old schema would misunderstand the
/// new one.
inline constexpr int planSchema = 20;

/// The end of a message that refuses the plan in a folder for its version: how to make it anew.
inline std::string compileAgain(const std::string &folder) {
  return "; make the plan anew with 'syncline compile MODEL --cluster FILE -o " + folder + "'";
}

/// The largest number of ranks, and of servers, that a cluster file or a plan may state. Costs are
/// evaluated in doubles and plans list ranks; a million is far beyond any cluster.
inline constexpr std::int64_t maxRanks = std::int64_t{1} << 20;

/// The most ranks that one launcher starts on its host.
inline constexpr int maxLocalRanks = 256;

/// The most channels of a plan. Each has two threads and its own connections on every rank; two
/// suffice to overlap the stages of messages, and more only divide the network further.
inline constexpr int maxChannels = 8;

/// The most batches whose gradients one step adds up.
inline constexpr std::int64_t mostMicroBatches = 1'000'000;

/// Dedicated servers sum a message in pieces of at most so many bytes: they receive one piece while
/// they send the sum of the piece before it.
///
/// All workers send to a server at once, each as much as its connection holds, which is about four
/// messages. What does not fit into the switch's queue before the server is lost and sent again.
/// Pieces of 256 KiB reach 80 to 90 % of four 1 Gb/s links into one; pieces of 96 KiB reach 95 %,
/// which is all that TCP has. Below 80 KiB, connections run dry between two acknowledgements.
inline constexpr std::size_t serverPieceBytes = std::size_t{96} << 10;

} // namespace syncline
