// Digests of weights, and comparing them.
#include "runtime/run/weights/EqualWeights.h"

#include "runtime/core/Formatted.h"
#include "runtime/core/RankNames.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstring>
#include <vector>

namespace syncline::run {
namespace {

/// FNV-1a on words, in lanes that a processor computes at the same time: as fast as memory.
class Digest {
public:
  void add(std::span<const std::byte> bytes) {
    constexpr std::size_t block = laneCount * sizeof(std::uint64_t);
    for (; bytes.size() >= block; bytes = bytes.subspan(block))
      for (std::size_t i = 0; i < laneCount; ++i)
        mix(i, bytes.subspan(i * sizeof(std::uint64_t), sizeof(std::uint64_t)));
    for (std::size_t i = 0; !bytes.empty(); ++i) {
      const std::size_t size = std::min(bytes.size(), sizeof(std::uint64_t));
      mix(i, bytes.first(size));
      bytes = bytes.subspan(size);
    }
  }

  std::string hex() const {
    std::uint64_t all = 0;
    for (const std::uint64_t lane : lanes)
      all = (all ^ lane) * prime;
    return core::formatted("%016" PRIx64, all ^ all >> 32);
  }

private:
  static constexpr std::uint64_t prime = 0x9E3779B97F4A7C15; ///< odd: no bit of a lane is lost

  void mix(std::size_t lane, std::span<const std::byte> bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), bytes.size());
    lanes[lane] = (lanes[lane] ^ word) * prime;
    lanes[lane] ^= lanes[lane] >> 29; // high bits reach low ones, too
  }

  static constexpr std::size_t laneCount = 8;
  std::array<std::uint64_t, laneCount> lanes{1, 2, 3, 4, 5, 6, 7, 8};
};

} // namespace

Result<std::string> weightsDigest(core::TensorStore &store) {
  Digest digest;
  std::vector<std::byte> values;
  for (std::size_t i = 0; i < store.tensors().size(); ++i) {
    const core::StepTensor &t = store.tensors()[i];
    if (t.space != Space::parameters)
      continue;
    values.resize(
        static_cast<std::size_t>(core::elementCount(t.shape) * core::elementBytes(t.type)));
    SYNCLINE_TRY(store.read(static_cast<int>(i), values));
    digest.add(values);
  }
  return digest.hex();
}

Status expectEqualWeights(core::TensorStore &store, transport::Group &group,
                          std::int64_t completed) {
  SYNCLINE_TRY_GET(digest, weightsDigest(store));
  const std::string after = "after " + std::to_string(completed) + " steps";
  group.enter("in the comparison of weights " + after + "; " + core::lastCompletedStep(completed));
  return group.agree({{"weights " + after, *digest}}, transport::Participants::workers);
}

} // namespace syncline::run
