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

/// The algorithm by which NCCL sums a bucket; nothing where no all-reduce sums it.
std::optional<StringRef> algorithmOf(plan::BucketOp bucket) {
  const Scheme scheme = bucket.getScheme();
  if (scheme != Scheme::ring && scheme != Scheme::tree)
    return std::nullopt;
  return schemeName(scheme);
}

class TableWriter {
public:
  TableWriter(plan::ProgramOp program, cluster::NcclAttr nccl) : program(program) {
    if (nccl.getProtocol() != cluster::Protocol::any)
      pinned = cluster::stringifyProtocol(nccl.getProtocol());
    // The row fits any number of nodes: NCCL counts those on which ranks were started, which need
    // not be the plan's.
    pinned += "," + std::to_string(nccl.getChannels().value_or(-1)) + ",-1," +
              std::to_string(program.getRanks()) + "\n";
  }

  TunerTable write() {
    table.text = header;
    bool scatters = false, gathers = false;
    for (auto bucket : program.getOps<plan::BucketOp>()) {
      scatters |= plan::updatesItself(bucket);
      gathers |= plan::updatesItself(bucket) || plan::travelsByFactors(bucket);
      if (algorithmOf(bucket))
        addAllReduce(bucket);
    }
    if (scatters)
      addRow("reducescatter", 0, -1, "ring");
    if (gathers)
      addRow("allgather", 0, -1, "ring");
    return std::move(table);
  }

private:
  void addAllReduce(plan::BucketOp bucket) {
    const auto bytes = static_cast<std::int64_t>(bucket.getExtent());
    const auto [found, isNew] = firstOf.try_emplace(bytes, bucket);
    const StringRef algorithm = *algorithmOf(bucket), known = *algorithmOf(found->second);
    if (isNew)
      addRow("allreduce", bytes, bytes, algorithm);
    else if (algorithm != known)
      table.clashes.push_back({static_cast<std::int64_t>(found->second.getId()),
                               static_cast<std::int64_t>(bucket.getId()), bytes, known.str(),
                               algorithm.str()});
  }

  void addRow(StringRef collective, std::int64_t least, std::int64_t most, StringRef algorithm) {
    table.text += (collective + "," + llvm::Twine(least) + "," + llvm::Twine(most) + "," +
                   algorithm + "," + pinned)
                      .str();
  }

  plan::ProgramOp program;
  std::string pinned; ///< the end of each row, from the protocol on
  TunerTable table;
  llvm::DenseMap<std::int64_t, plan::BucketOp> firstOf; ///< by bytes
};

} // namespace

TunerTable tunerTable(plan::ProgramOp program, cluster::NcclAttr nccl) {
  return TableWriter(program, nccl).write();
}

} // namespace syncline::codegen
