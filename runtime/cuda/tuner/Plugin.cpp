// The tuner that NCCL loads (NCCL_TUNER_PLUGIN). It chooses algorithms by the plan's table, whose
// path is in SYNCLINE_NCCL_TABLE. NCCL counts bytes of elements with SYNCLINE_NCCL_ELEMENT_BYTES
// bytes each.
#include "runtime/cuda/tuner/Interface.h"
#include "runtime/cuda/tuner/Table.h"

#include <cstdlib>
#include <fstream>

namespace syncline::nccl {

namespace {

/// The tuner of one communicator.
struct Tuner {
  Table table;
  std::int64_t nodes, ranks, elementBytes;
};

constexpr int warns = 2;
constexpr std::int64_t planBytes = 4; ///< bytes of an element in the table

int refuse(SynclineNcclLog log, const std::string &message) {
  log(warns, ~0ul, __FILE__, __LINE__, "%s", message.c_str());
  return synclineNcclInvalidUsage;
}

int make(void **context, std::size_t ranks, std::size_t nodes, SynclineNcclLog log) {
  const char *const path = std::getenv("SYNCLINE_NCCL_TABLE");
  if (!path)
    return refuse(log,
                  "SYNCLINE_NCCL_TABLE is not set: expected the path of a plan's nccl-tuner.csv");
  const char *const element = std::getenv("SYNCLINE_NCCL_ELEMENT_BYTES");
  const std::string width = element ? element : "4";
  if (width != "2" && width != "4")
    return refuse(log, "SYNCLINE_NCCL_ELEMENT_BYTES: expected 2 or 4, got '" + width + "'");
  std::ifstream file(path);
  if (!file)
    return refuse(log, std::string("cannot read '") + path + "'");
  Result<Table> table = readTable(file, path);
  if (!table)
    return refuse(log, table.status().message());
  *context = new Tuner{std::move(*table), static_cast<std::int64_t>(nodes),
                       static_cast<std::int64_t>(ranks), width == "2" ? 2 : 4};
  return synclineNcclSuccess;
}

int chooseFor(void *context, int collective, std::size_t bytes, int, float **costs, int algorithms,
              int protocols, int, int *channels) {
  const Tuner &tuner = *static_cast<Tuner *>(context);
  const auto planned = static_cast<std::int64_t>(bytes) * planBytes / tuner.elementBytes;
  const Row *row = find(tuner.table, collective, planned, tuner.nodes, tuner.ranks);
  // The parameter's type is a pointer to row pointers, but the table is one block.
  const bool obeys =
      row && leaveOnly(*row, reinterpret_cast<float *>(costs), algorithms, protocols);
  ++synclineNcclTunerNotes.asked;
  synclineNcclTunerNotes.unable += row && !obeys;
  if (obeys && row->channels)
    *channels = *row->channels;
  return synclineNcclSuccess;
}

int destroy(void *context) {
  delete static_cast<Tuner *>(context);
  return synclineNcclSuccess;
}

int makeV4(std::size_t ranks, std::size_t nodes, SynclineNcclLog log, void **context) {
  return make(context, ranks, nodes, log);
}

int makeV5(void **context, std::uint64_t, std::size_t ranks, std::size_t nodes, SynclineNcclLog log,
           void *, void *) {
  return make(context, ranks, nodes, log);
}

} // namespace

} // namespace syncline::nccl

extern "C" {
SynclineNcclTunerNotes synclineNcclTunerNotes{};
const SynclineNcclTunerV4 ncclTunerPlugin_v4{"Syncline", syncline::nccl::makeV4,
                                             syncline::nccl::chooseFor, syncline::nccl::destroy};
const SynclineNcclTunerV5 ncclTunerPlugin_v5{"Syncline", syncline::nccl::makeV5,
                                             syncline::nccl::chooseFor, syncline::nccl::destroy};
}
