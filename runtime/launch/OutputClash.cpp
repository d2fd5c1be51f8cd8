// Outputs that are inputs, or other outputs.
#include "runtime/launch/CommandLine.h"

#include "syncline/PlanFiles.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <sstream>
#include <string_view>

namespace fs = std::filesystem;

namespace syncline::launch {
namespace {

/// The options of all programs that name what is read and what is written.
constexpr std::array<std::string_view, 16> inputs{
    "PLAN",           "MODEL",      "--cluster",    "--profile", "--parameters",
    "--model",        "--data",     "--eval",       "--load",    "--schedule",
    "--diff",         "--measured", "--from-trace", "--map",     "--from-nccl-topology",
    "--from-hostfile"};
constexpr std::array<std::string_view, 9> outputs{
    "--output", "--save",       "--trace",
    "--dump",   "--checkpoint", "--op-times",
    "--csv",    "--plot",       "--tune-convolutions"};

/// A path and the option that names it.
struct Named {
  fs::path path;
  std::string option;
};

/// The paths that a value may mean: itself, the files of "X,Y" and those of "INPUT=X,..,Y".
std::vector<std::string> pathsIn(const std::string &value) {
  std::vector<std::string> paths{value};
  std::stringstream pieces(value);
  for (std::string piece; std::getline(pieces, piece, ',');) {
    paths.push_back(piece);
    if (const std::size_t equals = piece.find('='); equals != std::string::npos)
      paths.push_back(piece.substr(equals + 1));
  }
  std::erase(paths, "");
  return paths;
}

/// The values of the given command line's options that `names` lists, and of its subcommand's.
template <std::size_t n>
std::vector<Named> valuesOf(const CLI::App &app, const std::array<std::string_view, n> &names) {
  std::vector<Named> found;
  for (const CLI::Option *option : app.get_options()) {
    const bool isNamed = std::ranges::any_of(
        names, [&](std::string_view name) { return option->check_name(std::string(name)); });
    for (const std::string &value : isNamed ? option->results() : std::vector<std::string>())
      if (!value.empty())
        found.push_back({value, option->get_name()});
  }
  for (const CLI::App *subcommand : app.get_subcommands())
    for (Named &named : valuesOf(*subcommand, names))
      found.push_back(std::move(named));
  return found;
}

/// Whether both lead to one file, or would.
bool areOne(const fs::path &a, const fs::path &b) {
  std::error_code error;
  if (fs::equivalent(a, b, error))
    return true;
  const fs::path left = fs::weakly_canonical(a, error), right = fs::weakly_canonical(b, error);
  return !error && !left.empty() && left == right;
}

/// Whether `inner` lies in the folder `outer`, at whatever depth.
bool isIn(const fs::path &inner, const fs::path &outer) {
  std::error_code error;
  for (fs::path place = fs::weakly_canonical(inner, error).parent_path();
       !error && place.has_relative_path(); place = place.parent_path())
    if (areOne(place, outer))
      return true;
  return false;
}

/// Whether the existing file `path` is one that is read from the folder `input`: a plan's, a shard
/// or an image.
bool isReadFrom(const fs::path &input, const fs::path &path) {
  std::error_code ignored;
  if (!fs::is_directory(input, ignored) || !fs::exists(path, ignored) || !isIn(path, input))
    return false;
  const fs::path file = fs::weakly_canonical(path, ignored);
  if (fs::exists(input / "plan.json", ignored))
    return fs::equivalent(file.parent_path(), input, ignored) &&
           isPlanFile(file.filename().string());
  std::string kind = file.extension().string();
  std::ranges::transform(kind, kind.begin(), [](unsigned char c) { return std::tolower(c); });
  return kind == ".npy" || kind == ".png" || kind == ".jpg" || kind == ".jpeg";
}

std::string inQuotes(const fs::path &path) { return "'" + path.string() + "'"; }

std::string clashWith(const Named &output, const Named &input) {
  std::error_code ignored;
  for (const std::string &path : pathsIn(input.path.string())) {
    if (!fs::exists(path, ignored))
      continue;
    if (fs::is_directory(output.path, ignored)) {
      if (output.option == "--output" && isIn(path, output.path))
        return output.option + ": " + inQuotes(output.path) + " would replace " + inQuotes(path) +
               ", which " + input.option + " reads; expected another folder";
    } else if (areOne(output.path, path) || isReadFrom(path, output.path)) {
      return output.option + ": " + inQuotes(output.path) + " is read by " + input.option +
             "; expected another file";
    }
  }
  return {};
}

} // namespace

std::string
outputClash(const CLI::App &app,
            const std::function<std::vector<std::string>(const std::string &path)> &filesOf) {
  std::vector<Named> written = valuesOf(app, outputs);
  std::error_code ignored;
  std::erase_if(written, [&](const Named &output) {
    return fs::exists(output.path, ignored) && fs::is_other(output.path, ignored);
  });
  const std::vector<Named> named = valuesOf(app, inputs);
  std::vector<Named> read = named;
  if (filesOf && std::ranges::any_of(written, [&](const Named &output) {
        return fs::exists(output.path, ignored);
      }))
    for (const Named &input : named)
      for (const std::string &file : filesOf(input.path.string()))
        read.push_back({file, input.option});
  for (auto output = written.begin(); output != written.end(); ++output) {
    for (const Named &input : read)
      if (std::string clash = clashWith(*output, input); !clash.empty())
        return clash;
    for (auto other = written.begin(); other != written.end(); ++other)
      if (other != output && (areOne(output->path, other->path) ||
                              (output->option == "--output" && isIn(other->path, output->path))))
        return other->option + ": " + inQuotes(other->path) + " is written by " + output->option +
               ", too; expected another place";
  }
  return {};
}

} // namespace syncline::launch
