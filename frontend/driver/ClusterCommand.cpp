// `syncline cluster`: a cluster file from what other programs know of a cluster, or from options.
#include "frontend/driver/Commands.h"
#include "frontend/files/Paths.h"
#include "frontend/report/Table.h"

#include "frontend/files/ClusterFile.h"
#include "frontend/files/ClusterKinds.h"
#include "frontend/files/FormatUnits.h"
#include "frontend/files/ImportCluster.h"
#include "frontend/files/Units.h"
#include "runtime/launch/CliChecks.h"
#include "runtime/launch/CommandLine.h"
#include "runtime/launch/CommandLineText.h"
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
  bool lists = false;             ///< list the samples, do nothing else
  files::ClusterSources sources;
};

std::vector<std::string> words(std::span<const std::string_view> names, const char *further) {
  std::vector<std::string> list(names.begin(), names.end());
  if (further)
    list.emplace_back(further);
  return list;
}

/// Adds an option that takes one of `kinds`. Another value is refused with the nearest kind, or
/// with all of them.
CLI::Option *addKind(CLI::App *command, const std::string &option,
                     std::optional<std::string> &target, std::vector<std::string> kinds,
                     const std::string &help) {
  std::string all;
  for (const std::string &kind : kinds)
    all += (all.empty() ? "" : ", ") + kind;
  return command->add_option(option, target, help + ": " + all)
      ->check(launch::oneOf(std::move(kinds)).description(""))
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
  SYNCLINE_TRY(
      readQuantity("--bandwidth", options.bandwidth, files::parseByteRate, sources.bandwidth));
  SYNCLINE_TRY(readQuantity("--latency", options.latency, files::parseSeconds, sources.latency));
  if (!options.topology.empty()) {
    SYNCLINE_TRY_GET(topology, files::readNcclTopology(options.topology));
    sources.topology = *topology;
    sources.topologyName = std::filesystem::path(options.topology).filename().string();
  }
  if (!options.hostfile.empty()) {
    SYNCLINE_TRY_GET(hosts, files::readHostfile(options.hostfile));
    sources.hosts = std::move(*hosts);
    sources.hostfileName = std::filesystem::path(options.hostfile).filename().string();
  }
  return Status::ok();
}

/// What computes: its kind, and its rates where they are not those of the kind.
std::string deviceText(const files::DeviceRates &device) {
  const auto usual = files::deviceKind(device.kind);
  std::string text = device.kind;
  if (usual && usual->compute == device.compute && usual->memory == device.memory)
    return text;
  if (device.compute)
    text += (text.empty() ? "" : ", ") + files::formatComputeRate(*device.compute);
  if (device.memory)
    text += (text.empty() ? "" : ", ") + files::formatByteRate(*device.memory);
  return text.empty() ? "not said" : text;
}

Status listSamples() {
  report::Table table({{"name"},
                       {"nodes", report::Align::right},
                       {"devices a node", report::Align::right},
                       {"device"},
                       {"what"}});
  for (const std::string &sample : files::sampleClusters()) {
    Result<std::string> path = files::findSampleCluster(sample);
    SYNCLINE_TRY_GET(file, path ? files::readClusterFile(*path) : path.status());
    table.addRow({sample, std::to_string(file->nodes()), std::to_string(file->devicesPerNode),
                  deviceText(file->device), file->name});
  }
  std::fputs(table.toString().c_str(), stdout);
  return Status::ok();
}

/// Refuses options that repeat what a file says.
Status checkUsage(const ClusterOptions &options) {
  const files::ClusterSources &sources = options.sources;
  if (sources.nodes && !options.hostfile.empty())
    return Status::error(ErrorKind::badUsage, "--nodes: a host file says how many nodes there are");
  return Status::ok();
}

/// Prints which file was written and which command comes next.
Status close(const std::string &output, const std::string &text) {
  SYNCLINE_TRY_GET(file, files::parseClusterFile(text, output));
  std::string what =
      files::counted(file->ranks, "rank") + " on " + files::counted(file->nodes(), "node");
  if (file->devicesPerNode > 1 && file->nodes() > 1 && !file->inside)
    what += "; nothing is said of what joins the devices of a node (--inside), so nothing "
            "hierarchical will be planned";
  std::vector<std::string> next = {"syncline", "compile", "MODEL", "--cluster", output};
  if (!file->device.compute && !file->device.memory)
    next.insert(next.end(), {"--profile", "PROFILE"});
  next.insert(next.end(), {"-o", "OUT.plan"});
  std::fputs(launch::closingLines(output, what, next).c_str(), stderr);
  return Status::ok();
}

Status import(ClusterOptions &options) {
  if (options.lists)
    return listSamples();
  SYNCLINE_TRY(checkUsage(options));
  if (!options.output.empty())
    SYNCLINE_TRY(expectWritableFile(options.output));
  SYNCLINE_TRY(readSources(options));
  SYNCLINE_TRY_GET(cluster, files::importedCluster(options.sources));
  for (const std::string &note : cluster->notes)
    std::fprintf(stderr, "syncline: note: %s\n", note.c_str());
  if (!options.output.empty()) {
    const Status written = writeWholeFile(options.output, cluster->text);
    return written ? close(options.output, cluster->text) : written;
  }
  std::fputs(cluster->text.c_str(), stdout);
  return Status::ok();
}

} // namespace

Command addCluster(CLI::App &app) {
  auto options = std::make_shared<ClusterOptions>();
  CLI::App *command = app.add_subcommand(
      "cluster",
      "Write a cluster file: from NCCL's topology, mpirun's host file, or options alone");
  command->footer(
      "Examples:\n"
      "  syncline cluster --nodes 8 --devices-per-node 4 --device v100 --inside nvlink-v100 \\\n"
      "      --network ethernet-10g -o lab.yaml\n"
      "  syncline cluster --from-hostfile hosts --device a100 --network infiniband-hdr -o "
      "lab.yaml");
  command
      ->add_option("--from-nccl-topology", options->topology,
                   "Read one node as NCCL sees it (XML), from a run with NCCL_TOPO_DUMP_FILE set")
      ->check(launch::someText())
      ->type_name("FILE")
      ->group("Inputs");
  command
      ->add_option("--from-hostfile", options->hostfile,
                   "Read hosts and their slots from this file, as mpirun does")
      ->check(launch::someText())
      ->type_name("FILE")
      ->group("Inputs");
  command
      ->add_option("--nodes", options->sources.nodes,
                   "Set the number of nodes; default: as many as the host file's hosts")
      ->check(launch::wholeNumber(1, "nodes"))
      ->type_name("N")
      ->group("What files do not say");
  command
      ->add_option("--devices-per-node", options->sources.devicesPerNode,
                   "Set the devices of a node; default: as the files say, else 1")
      ->check(launch::wholeNumber(1, "devices"))
      ->type_name("N")
      ->group("What files do not say");
  addKind(command, "--device", options->sources.device, words(files::deviceKinds(), "none"),
          "Set the device of a rank");
  addKind(command, "--network", options->sources.network,
          words(files::linkKinds(files::LinkPlace::betweenNodes), nullptr),
          "Set latency between the nodes, and the rate where the topology has none");
  addKind(command, "--inside", options->sources.inside,
          words(files::linkKinds(files::LinkPlace::insideNode), "none"),
          "Set the link between a node's devices; default: the topology's or the device's");
  const char *group = "What files do not say";
  command
      ->add_option("--bandwidth", options->bandwidth,
                   "Set the rate of one network card, such as '25 Gb/s'; default: the topology's "
                   "or network's")
      ->type_name("RATE")
      ->group(group);
  command
      ->add_option(
          "--latency", options->latency,
          "Set the latency of a message between nodes, such as 20us; default: the network's")
      ->type_name("TIME")
      ->group(group);
  command
      ->add_flag("--list", options->lists,
                 "List the sample clusters instead, which '--cluster' takes by name")
      ->group("Output");
  command
      ->add_option("-o,--output", options->output,
                   "Write the cluster file here, replacing one; default: standard output")
      ->check(launch::someText())
      ->group("Output");
  return [options] { return import(*options); };
}

} // namespace syncline::driver
