// Where this installation keeps what the command needs. A build folder is laid out as an installed
// prefix is: bin, include, lib, share.
#pragma once

#include "syncline/Status.h"

#include <filesystem>
#include <string>
#include <vector>

namespace syncline::files {

/// The folder of this executable; empty when the kernel does not say.
std::filesystem::path executableFolder();

/// The runtime's public headers, `../include`.
std::string runtimeIncludes();

/// Cluster files that come with Syncline, `../share/syncline/clusters`, by name without ".yaml".
std::vector<std::string> sampleClusters();

/// The file of a sample. badInput, with the nearest name, where there is none.
Result<std::string> findSampleCluster(const std::string &name);

/// Replaces the name of a sample by its file, unless a file has that name. badInput where a text
/// without '/' and '.' names neither. Other texts stay as they are, and the reader of cluster files
/// says what is wrong with them.
Status resolveCluster(std::string &cluster);

} // namespace syncline::files
