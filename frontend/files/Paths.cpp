// Where this installation keeps what the command needs.
#include "frontend/files/Paths.h"

#include "syncline/Suggestion.h"

#include <algorithm>

namespace fs = std::filesystem;

namespace syncline::files {

fs::path executableFolder() {
  std::error_code error;
  fs::path path = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path() : path.parent_path();
}

/// The folder that has bin, include, lib and share.
static fs::path prefix() { return executableFolder().parent_path(); }

std::string runtimeIncludes() { return (prefix() / "include").string(); }

static fs::path clusterFolder() { return prefix() / "share" / "syncline" / "clusters"; }

std::vector<std::string> sampleClusters() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::directory_entry &entry : fs::directory_iterator(clusterFolder(), ignored))
    if (entry.path().extension() == ".yaml")
      names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

Result<std::string> findSampleCluster(const std::string &name) {
  const std::vector<std::string> samples = sampleClusters();
  if (std::ranges::find(samples, name) != samples.end())
    return (clusterFolder() / (name + ".yaml")).string();
  const std::vector<std::string_view> known(samples.begin(), samples.end());
  const std::string_view meant = nearestName(name, known);
  return Status::badInput("no cluster file and no sample is called '" + name + "'" +
                          (meant.empty() ? "; 'syncline cluster --list' lists the samples"
                                         : ", did you mean '" + std::string(meant) + "'?"));
}

Status resolveCluster(std::string &cluster) {
  std::error_code ignored;
  if (cluster.empty() || fs::exists(cluster, ignored) ||
      cluster.find_first_of("/.") != cluster.npos)
    return Status::ok();
  Result<std::string> file = findSampleCluster(cluster);
  if (file)
    cluster = *file;
  return file.status();
}

} // namespace syncline::files
