// Reads YAML values and maps by yaml-cpp, and catches its exceptions.
#include "frontend/files/YamlMap.h"

#include "frontend/files/TextFile.h"
#include "syncline/Suggestion.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <sstream>

namespace syncline::files {

/// "file:line:column: "; yaml-cpp counts from zero and says -1 where it does not know.
static std::string position(const std::string &fileName, const YAML::Mark &mark) {
  if (mark.is_null())
    return fileName + ": ";
  return fileName + ":" + std::to_string(mark.line + 1) + ":" + std::to_string(mark.column + 1) +
         ": ";
}

YamlValue::YamlValue(const YAML::Node &node, const YAML::Node &place, std::string fileName,
                     std::string path)
    : node(std::make_shared<const YAML::Node>(node)),
      place(std::make_shared<const YAML::Node>(place)), fileName(std::move(fileName)),
      path(std::move(path)) {}

bool YamlValue::isMap() const { return node->IsMap(); }
bool YamlValue::isList() const { return node->IsSequence(); }

std::string YamlValue::kind() const {
  switch (node->Type()) {
  case YAML::NodeType::Undefined:
  case YAML::NodeType::Null:
    return "nothing";
  case YAML::NodeType::Scalar:
    return "'" + node->Scalar().substr(0, 60) + "'";
  case YAML::NodeType::Sequence:
    return "a list";
  case YAML::NodeType::Map:
    return "a map";
  }
  return "nothing";
}

Status YamlValue::error(const std::string &message) const {
  return Status::badInput(position(fileName, place->Mark()) +
                          (path.empty() ? "" : "'" + path + "': ") + message);
}

Result<std::string> YamlValue::scalar(std::string_view wanted) const {
  if (!node->IsScalar())
    return error("expected " + std::string(wanted) + ", got " + kind());
  return node->Scalar();
}

Result<std::vector<YamlValue>> YamlValue::list(std::string_view wanted) const {
  if (!node->IsSequence())
    return error("expected " + std::string(wanted) + ", got " + kind());
  std::vector<YamlValue> members;
  for (const YAML::Node &member : *node)
    members.emplace_back(member, member, fileName,
                         path + "[" + std::to_string(members.size()) + "]");
  return members;
}

Result<YamlMap> YamlMap::open(const YamlValue &value, std::span<const std::string_view> known) {
  if (!value.isMap())
    return value.error("expected a map with the keys " + quotedList(known) + ", got " +
                       value.kind());
  YamlMap result(value);
  const std::string prefix = value.path.empty() ? "" : value.path + ".";
  for (const auto &pair : *value.node) {
    const YamlValue keyValue(pair.first, pair.first, value.fileName, value.path);
    SYNCLINE_TRY_GET(key, keyValue.scalar("a key"));
    if (result.find(*key))
      return keyValue.error("key '" + *key + "' is given twice");
    if (std::find(known.begin(), known.end(), *key) == known.end())
      return keyValue.error("unknown key '" + key->substr(0, 60) + "'" + suggestion(*key, known));
    // yaml-cpp gives an omitted value the position of the next key.
    const YAML::Node &place = pair.second.IsNull() ? pair.first : pair.second;
    result.entries.push_back({*key, YamlValue(pair.second, place, value.fileName, prefix + *key)});
  }
  return result;
}

std::optional<YamlValue> YamlMap::find(std::string_view key) const {
  for (const Entry &entry : entries)
    if (entry.key == key)
      return entry.value;
  return std::nullopt;
}

Result<YamlValue> YamlMap::require(std::string_view key) const {
  if (auto value = find(key))
    return *value;
  return map.error("expected the key '" + std::string(key) + "', got none");
}

namespace {

/// Notes where documents start and ignores what they hold.
struct DocumentStarts : YAML::EventHandler {
  void OnDocumentStart(const YAML::Mark &mark) override { last = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark &, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark &, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark &, const std::string &, YAML::anchor_t,
                const std::string &) override {}
  void OnSequenceStart(const YAML::Mark &, const std::string &, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark &, const std::string &, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

  YAML::Mark last;
};

} // namespace

/// Fails when there is a second document. YAML::LoadAll would not do: on text such as ",{" it makes
/// empty documents until memory is gone.
static Status checkOneDocument(const std::string &text, const std::string &fileName) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DocumentStarts documents;
  if (parser.HandleNextDocument(documents) && parser.HandleNextDocument(documents))
    return Status::badInput(position(fileName, documents.last) +
                            "expected the end of the one YAML document, got more");
  return Status::ok();
}

Result<YamlValue> parseYaml(std::string_view view, std::string_view fileName) {
  const std::string name(fileName), text(view);
  try {
    SYNCLINE_TRY(checkOneDocument(text, name));
    const YAML::Node document = YAML::Load(text);
    if (document.IsNull())
      return Status::badInput(name + ": expected a YAML document, got an empty file");
    return YamlValue(document, document, name, "");
  } catch (const YAML::Exception &failure) {
    return Status::badInput(position(name, failure.mark) + "not valid YAML: " + failure.msg);
  } catch (const std::exception &failure) {
    return Status::badInput(name + ": not valid YAML: " + failure.what());
  }
}

Result<YamlMap> openYaml(std::string_view text, std::string_view fileName,
                         std::span<const std::string_view> known) {
  SYNCLINE_TRY_GET(checked, checkText(text, fileName));
  SYNCLINE_TRY_GET(root, parseYaml(*checked, fileName));
  return YamlMap::open(*root, known);
}

} // namespace syncline::files
