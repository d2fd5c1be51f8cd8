// Writing nccl-tuner.csv; codegen/README.md describes its format.
#include "runtime/calibrate/TunerFolder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;

namespace syncline::calibrate {

Result<TunerFolder> TunerFolder::create(const std::optional<std::string> &algorithm) {
  std::error_code failed;
  std::string path = (fs::temp_directory_path(failed) / "syncline-calibrate-XXXXXX").string();
  if (failed || !mkdtemp(path.data()))
    return Status::badInput("cannot make '" + path +
                            "': " + (failed ? failed.message() : std::strerror(errno)));
  TunerFolder folder(path);
  std::ofstream table(fs::path(path) / "nccl-tuner.csv");
  table << "collective,min_bytes,max_bytes,algorithm,protocol,channels,nodes,ranks\n";
  if (algorithm)
    table << "allreduce,0,-1," << *algorithm << ",,-1,-1,-1\n";
  for (const char *collective : {"reducescatter", "allgather"})
    table << collective << ",0,-1,ring,,-1,-1,-1\n";
  table.close();
  if (!table)
    return Status::badInput("cannot write '" + path + "/nccl-tuner.csv'");
  return folder;
}

TunerFolder::~TunerFolder() {
  std::error_code ignored;
  if (!folder.empty())
    fs::remove_all(folder, ignored);
}

} // namespace syncline::calibrate
