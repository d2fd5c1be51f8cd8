// Strict reading of YAML maps: every key known, used once, every error with file, line and column.
//
// yaml-cpp stays behind this header. A document is walked along its schema only, whose depth is
// fixed, so aliases are shared, never expanded: a "billion laughs" file costs its own size.
#pragma once

#include "syncline/Status.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace YAML {
class Node;
}

namespace syncline::files {

/// One value of a document: what it is, where it stands (`path` such as 'network.latency').
/// Copies are cheap and share the document.
class YamlValue {
public:
  /// `place` is the node whose position errors name.
  YamlValue(const YAML::Node &node, const YAML::Node &place, std::string fileName,
            std::string path);

  bool isMap() const;
  bool isList() const;
  /// "file:line:column: 'path': " + message, as badInput.
  Status error(const std::string &message) const;
  /// The text of a scalar; fails with "expected `wanted`, got a list" for any other value.
  Result<std::string> scalar(std::string_view wanted) const;
  /// The members of a list; fails for any other value.
  Result<std::vector<YamlValue>> list(std::string_view wanted) const;

private:
  friend class YamlMap;
  std::string kind() const;

  std::shared_ptr<const YAML::Node> node;
  std::shared_ptr<const YAML::Node> place;
  std::string fileName;
  std::string path;
};

/// A map whose keys were checked against `known` when it was opened.
class YamlMap {
public:
  /// Fails when `value` is no map, has a key that is no scalar, a key twice, or a key not in
  /// `known` (named with the nearest known one).
  static Result<YamlMap> open(const YamlValue &value, std::span<const std::string_view> known);

  /// The value of `key`, nothing when the map has none.
  std::optional<YamlValue> find(std::string_view key) const;
  /// The value of `key`; fails, naming it, when the map has none.
  Result<YamlValue> require(std::string_view key) const;
  /// The map itself, for errors about it as a whole.
  const YamlValue &self() const { return map; }

private:
  explicit YamlMap(YamlValue map) : map(std::move(map)) {}
  struct Entry {
    std::string key;
    YamlValue value;
  };
  YamlValue map;
  std::vector<Entry> entries;
};

/// The map that is the one document of `text`, which need not be checked yet. Fails where
/// checkText, parseYaml or YamlMap::open does.
Result<YamlMap> openYaml(std::string_view text, std::string_view fileName,
                         std::span<const std::string_view> known);

/// The one document of `text`. Fails, with line and column, on a syntax error, on no document and
/// on more than one. `text` is UTF-8 (see checkText).
Result<YamlValue> parseYaml(std::string_view text, std::string_view fileName);

} // namespace syncline::files
