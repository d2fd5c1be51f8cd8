// Finding the files of inputs and targets by name.
#include "runtime/data/SampleFiles.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

namespace syncline::data {
namespace {

namespace fs = std::filesystem;

bool contains(const std::vector<std::string> &names, const std::string &name) {
  return std::ranges::find(names, name) != names.end();
}

std::string quotedList(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

std::vector<std::string> splitAtCommas(const std::string &text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    parts.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return parts;
}

/// The name of "NAME=FILE"; nothing where the text is a path, in which '=' may stand too.
std::optional<std::string> inputNameOf(const std::string &text, const SampleFormat &format) {
  for (const std::vector<std::string> &names : {format.inputNames(), format.unneeded})
    for (const std::string &name : names)
      if (text.starts_with(name + "="))
        return name;
  std::error_code error;
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals > text.find('/') || fs::exists(text, error))
    return std::nullopt;
  return text.substr(0, equals);
}

Status wrongUsage(const std::string &text, const SampleFormat &format) {
  const std::vector<std::string> names = format.inputNames();
  std::string form;
  for (const std::string &name : names)
    form += (form.empty() ? "" : ",") + name + "=X";
  if (!format.hasTargets)
    return Status::error(ErrorKind::badUsage,
                         "expected a file for each input, '" + form +
                             "', or a folder as data, got '" + text +
                             "'; the model computes its loss from them, without targets");
  form = names.size() == 1 ? "two files 'X,Y'" : "files '" + form + ",Y'";
  return Status::error(ErrorKind::badUsage,
                       "expected " + form + " or a folder as data, got '" + text + "'");
}

/// The files of inputs by name, in the format's order.
Result<SampleFiles> filesOf(const std::map<std::string, std::string> &named,
                            const std::string &target, const std::string &text,
                            const SampleFormat &format) {
  SampleFiles files{{}, target};
  for (const InputFormat &input : format.inputs) {
    const auto file = named.find(input.name);
    if (file == named.end())
      return Status::badInput("'" + text + "': expected a file for input '" + input.name +
                              "', as " + input.name + "=FILE");
    files.inputs.push_back(file->second);
  }
  return files;
}

} // namespace

std::vector<std::string> SampleFormat::inputNames() const {
  std::vector<std::string> names;
  for (const InputFormat &input : inputs)
    if (!contains(names, input.name))
      names.push_back(input.name);
  return names;
}

Result<SampleFiles> parseFiles(const std::string &text, const SampleFormat &format) {
  std::map<std::string, std::string> named;
  std::vector<std::string> plain;
  const std::vector<std::string> names = format.inputNames();
  for (const std::string &part : splitAtCommas(text)) {
    const std::optional<std::string> name = inputNameOf(part, format);
    if (!name) {
      plain.push_back(part);
      continue;
    }
    if (!contains(names, *name) && !contains(format.unneeded, *name))
      return Status::badInput("'" + text + "': the model has no input '" + *name + "', it has " +
                              quotedList(names));
    if (!named.emplace(*name, part.substr(name->size() + 1)).second)
      return Status::badInput("'" + text + "': input '" + *name + "' has two files");
  }
  const std::size_t targets = format.hasTargets ? 1 : 0;
  if (named.empty() && names.size() == 1 && plain.size() == 1 + targets) {
    named[names.front()] = plain.front();
    plain.erase(plain.begin());
  }
  if (named.empty() || plain.size() != targets)
    return wrongUsage(text, format);
  return filesOf(named, format.hasTargets ? plain.front() : "", text, format);
}

Result<std::vector<SampleFiles>> findShards(const std::string &folder, const SampleFormat &format) {
  const std::vector<std::string> names = format.inputNames();
  std::map<std::string, std::string> endings; ///< by input; the target's has no name
  for (const std::string &name : names)
    endings[name] = (names.size() == 1 ? "-x" : "-" + name) + ".npy";
  if (format.hasTargets)
    endings[""] = "-y.npy";
  std::vector<std::string> texts;
  for (const auto &[name, ending] : endings)
    texts.push_back(ending);
  std::ranges::sort(texts);

  std::map<std::string, std::map<std::string, std::string>> found;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string file = entry->path().filename().string();
    if (!file.ends_with(".npy"))
      continue;
    auto best = endings.end(); // the longest ending: one may end in another
    for (auto at = endings.begin(); at != endings.end(); ++at)
      if (file.ends_with(at->second) &&
          (best == endings.end() || at->second.size() > best->second.size()))
        best = at;
    if (best == endings.end()) {
      std::string wanted;
      for (const std::string &text : texts)
        wanted += (wanted.empty() ? "'" : " or '") + text + "'";
      return Status::badInput("'" + entry->path().string() + "': expected a name that ends in " +
                              wanted);
    }
    found[file.substr(0, file.size() - best->second.size())][best->first] = entry->path().string();
  }
  if (error)
    return Status::badInput("'" + folder + "': cannot list: " + error.message());
  std::vector<SampleFiles> shards;
  for (const auto &[name, files] : found) {
    for (const auto &[input, ending] : endings)
      if (!files.contains(input))
        return Status::badInput("'" + files.begin()->second + "': expected a file '" + name +
                                ending + "' beside it");
    SYNCLINE_TRY_GET(shard, filesOf(files, format.hasTargets ? files.at("") : "", folder, format));
    shards.push_back(std::move(*shard));
  }
  if (shards.empty()) {
    std::string wanted;
    for (const std::string &text : texts)
      wanted += (wanted.empty() ? "'NAME" : " and 'NAME") + text + "'";
    return Status::badInput(
        "'" + folder + "': expected " +
        (names.size() == 1 && format.hasTargets ? "pairs of files " : "files ") + wanted +
        (names.size() == 1 && format.hasTargets ? ", or a folder of images for each class" : ""));
  }
  return shards;
}

} // namespace syncline::data
