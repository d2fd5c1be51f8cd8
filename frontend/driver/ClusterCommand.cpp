// `syncline cluster`: a cluster file from what other programs know of a cluster.
#include "frontend/driver/Commands.h"

#include "frontend/files/ClusterKinds.h"
#include "frontend/files/ImportCluster.h"
#include "frontend/files/Units.h"
#include "runtime/launch/NumberChecks.h"
#include "syncline/OutputFile.h"

#include "CLI/CLI.hpp"

#include <cstdio>
#include <filesystem>
#include <memory>

namespace syncline::driver {
namespace {

struct ClusterOptions {
  std::string topology, hostfile;
  std::string bandwidth, latency; ///< with units
  std::string output;             ///< empty: standard output
  files::ClusterSources sources;
};

std::vector<std::string> words(std::span<const std::string_view> names, const char *further) {
  std::vector<std::string> list(names.begin(), names.end());
  if (further)
    list.emplace_back(further);
  return list;
}

/// Of one kind of list; unknown words are refused with the list.
CLI::Option *addKind(CLI::App *command, const std::string &option,
                     std::optional<std::string> &target, std::vector<std::string> kinds,
                     const std::string &help) {
  std::string all;
  for (const std::string &kind : kinds)
    all += (all.empty() ? "" : ", ") + kind;
  auto known = [kinds, all](const std::string &given) {
    const bool isKnown = std::find(kinds.begin(), kinds.end(), given) != kinds.end();
    return isKnown ? std::string() : "unknown kind '" + given + "', expected one of " + all;
  };
  return command->add_option(option, target, help + ": " + all)
      ->check(known)
      ->type_name("KIND")
      ->group("What files do not say");
}

template <typename T>
Status readQuantity(const std::string &option, const std::string &text,
                    Result<double> (*parse)(std::string_view), std::optional<T> &target) {
  if (text.empty())
    return Status::ok();
  Result<double> value = parse(text);
  if (!value)
    return Status::error(ErrorKind::badUsage, option + ": " + value.status().message());
  target = *value;
  return Status::ok();
}

Status readSources(ClusterOptions &options) {
  files::ClusterSources &sources = options.sources;
  if (Status s =
          readQuantity("--bandwidth", options.bandwidth, files::parseByteRate, sources.bandwidth);
      !s)
    return s;
  if (Status s = readQuantity("--latency", options.latency, files::parseSeconds, sources.latency);
      !s)
    return s;
  if (!options.topology.empty()) {
    Result<files::NcclTopology> topology = files::readNcclTopology(options.topology);
    if (!topology)
      return topology.status();
    sources.topology = *topology;
    sources.topologyName = std::filesystem::path(options.topology).filename().string();
  }
  if (!options.hostfile.empty()) {
    Result<std::vector<files::Host>> hosts = files::readHostfile(options.hostfile);
    if (!hosts)
      return hosts.status();
    sources.hosts = std::move(*hosts);
    sources.hostfileName = std::filesystem::path(options.hostfile).filename().string();
  }
  return Status::ok();
}

Status import(ClusterOptions &options) {
  if (options.topology.empty() && options.hostfile.empty())
    return Status::error(ErrorKind::badUsage,
                         "expected --from-nccl-topology, --from-hostfile or both, got neither");
  if (options.sources.nodes && !options.hostfile.empty())
    return Status::error(ErrorKind::badUsage, "--nodes: a host file says how many nodes there are");
  if (!options.output.empty())
    if (Status s = expectWritableFile(options.output); !s)
      return s;
  if (Status s = readSources(options); !s)
    return s;
  Result<std::string> text = files::importedClusterText(options.sources);
  if (!text)
    return text.status();
  if (!options.output.empty())
    return writeWholeFile(options.output, *text);
  std::fputs(text->c_str(), stdout);
  return Status::ok();
}

} // namespace

Command addCluster(CLI::App &app) {
  auto options = std::make_shared<ClusterOptions>();
  CLI::App *command = app.add_subcommand(
      "cluster", "Write a cluster file from NCCL's topology, from mpirun's host file or from both");
  command
      ->add_option("--from-nccl-topology", options->topology,
                   "One node as NCCL sees it (XML), written by a run with NCCL_TOPO_DUMP_FILE set")
      ->check(someText())
      ->type_name("FILE")
      ->group("Inputs");
  command
      ->add_option("--from-hostfile", options->hostfile,
                   "Hosts and their slots, as mpirun reads them")
      ->check(someText())
      ->type_name("FILE")
      ->group("Inputs");
  command
      ->add_option("--nodes", options->sources.nodes, "Nodes; with a host file: as many as hosts")
      ->check(wholeNumber(1, "nodes"))
      ->type_name("N")
      ->group("What files do not say");
  addKind(command, "--device", options->sources.device, words(files::deviceKinds(), "none"),
          "What a rank computes with");
  addKind(command, "--network", options->sources.network,
          words(files::linkKinds(files::LinkPlace::betweenNodes), nullptr),
          "Rate, where the topology has none, and latency between the nodes");
  addKind(command, "--inside", options->sources.inside,
          words(files::linkKinds(files::LinkPlace::insideNode), "none"),
          "What joins the devices of a node, where it is not as in the topology");
  const char *group = "What files do not say";
  command
      ->add_option("--bandwidth", options->bandwidth,
                   "Of one network card, such as '25 Gb/s'; default: the topology's, the network's")
      ->type_name("RATE")
      ->group(group);
  command
      ->add_option("--latency", options->latency,
                   "Of a message between nodes, such as 20us; default: the network's")
      ->type_name("TIME")
      ->group(group);
  command->add_option("--name", options->sources.name, "The cluster's; default: the files' names")
      ->check(someText())
      ->group("Output");
  command
      ->add_option("-o,--output", options->output,
                   "Cluster file to write, replaced where there is one; default: standard output")
      ->check(someText())
      ->group("Output");
  return [options] { return import(*options); };
}

} // namespace syncline::driver
