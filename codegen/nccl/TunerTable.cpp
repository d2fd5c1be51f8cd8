// Writes the rows of nccl-tuner.csv.
#include "codegen/nccl/TunerTable.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace syncline::codegen {

namespace {

constexpr const char *header =
    "# NCCL's algorithm, protocol and channels for each message of this plan, by its bytes as "
    "fp32; "
    "the first row that fits counts\n"
    "collective,min_bytes,max_bytes,algorithm,protocol,channels,nodes,ranks\n";

/// The algorithm by which NCCL sums a message, "library" for the one that it chooses; nothing where
/// no all-reduce sums it.
std::optional<StringRef> algorithmOf(Scheme scheme) {
  if (!isAllReduce(scheme) || !isCarried(scheme, /*byNccl=*/true))
    return std::nullopt;
  return schemeName(scheme);
}

class TableWriter {
public:
  explicit TableWriter(plan::ProgramOp program) : program(program) {}

  TunerTable write() {
    table.text = header;
    if (program.getConsistency()) { // gradients stay on their rank
      for (auto exchange : program.getOps<plan::ExchangeOp>())
        addAllReduce(exchange);
      return std::move(table);
    }
    bool scatters = false, gathers = false;
    for (auto bucket : program.getOps<plan::BucketOp>()) {
      const bool isRing = plan::updatesItself(bucket) || bucket.getHalved();
      scatters |= isRing;
      gathers |= isRing || plan::travelsByFactors(bucket);
      if (!isRing)
        addAllReduce(bucket);
    }
    if (scatters)
      addRow("reducescatter", 0, -1, "ring");
    if (gathers)
      addRow("allgather", 0, -1, "ring");
    return std::move(table);
  }

private:
  struct Sum {
    std::int64_t number;
    StringRef algorithm;
  };

  /// Adds a row for a bucket or an exchange that an all-reduce sums, unless NCCL is to choose the
  /// algorithm, which it does for sizes without a row.
  template <typename Message> void addAllReduce(Message message) {
    const std::optional<StringRef> algorithm = algorithmOf(message.getScheme());
    if (!algorithm)
      return;
    const auto bytes = static_cast<std::int64_t>(message.getExtent());
    const Sum sum{static_cast<std::int64_t>(message.getId()), *algorithm};
    const auto [found, isNew] = firstOf.try_emplace(bytes, sum);
    const Sum &known = found->second;
    if (isNew && message.getScheme() != Scheme::library)
      addRow("allreduce", bytes, bytes, sum.algorithm);
    else if (!isNew && sum.algorithm != known.algorithm)
      table.clashes.push_back(
          {known.number, sum.number, bytes, known.algorithm.str(), sum.algorithm.str()});
  }

  void addRow(StringRef collective, std::int64_t least, std::int64_t most, StringRef algorithm) {
    // NCCL chooses protocol and channels. The row fits any number of nodes: NCCL counts those on
    // which ranks were started, which need not be the plan's.
    table.text += (collective + "," + llvm::Twine(least) + "," + llvm::Twine(most) + "," +
                   algorithm + ",,-1,-1," + llvm::Twine(program.getRanks()) + "\n")
                      .str();
  }

  plan::ProgramOp program;
  TunerTable table;
  llvm::DenseMap<std::int64_t, Sum> firstOf; ///< by bytes
};

} // namespace

TunerTable tunerTable(plan::ProgramOp program) { return TableWriter(program).write(); }

} // namespace syncline::codegen
