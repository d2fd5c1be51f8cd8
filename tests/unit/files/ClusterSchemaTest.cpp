// cluster.schema.json and README.md name the reader's keys and kinds, no more and no fewer. Both
// schemas and the driver's page list the schemes of syncline/Scheme.h.
#include "frontend/files/ClusterFile.h"
#include "frontend/files/ClusterKinds.h"
#include "syncline/Scheme.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

namespace syncline::files {
namespace {

const std::filesystem::path top = std::filesystem::path(SYNCLINE_SAMPLES).parent_path(),
                            folder = top / "frontend" / "files";

using Names = std::set<std::string>;

std::string textOf(const std::filesystem::path &path) {
  std::ifstream file(folder / path);
  return {std::istreambuf_iterator<char>(file), {}};
}

const nlohmann::json &schema() {
  static const nlohmann::json parsed = nlohmann::json::parse(textOf("cluster.schema.json"));
  return parsed;
}

Names keysOf(const nlohmann::json &map) {
  EXPECT_EQ(map.at("additionalProperties"), false);
  Names names;
  for (const auto &[key, value] : map.at("properties").items())
    names.insert(key);
  return names;
}

/// The keys that the reader lists when a map has one that it does not know.
Names readersKeys(const std::string &text) {
  const Result<ClusterFile> cluster = parseClusterFile(text, "c");
  const std::string message = cluster ? "" : cluster.status().message();
  const std::size_t list = message.find("expected one of ");
  EXPECT_NE(list, std::string::npos) << text << message;
  if (list == std::string::npos)
    return {};
  Names names;
  const std::regex name("'([a-z-]+)'");
  for (std::sregex_iterator it(message.begin() + static_cast<std::ptrdiff_t>(list), message.end(),
                               name);
       it != std::sregex_iterator(); ++it)
    names.insert((*it)[1]);
  return names;
}

std::string labWith(const std::string &rest) {
  return "{name: n, nodes: 2, devices-per-node: 2, " + rest + "}";
}

// Every map of the schema has the keys of the reader.
TEST(ClusterSchema, Keys) {
  const nlohmann::json &maps = schema().at("properties");
  EXPECT_EQ(keysOf(schema()), readersKeys("{zzzzzzzzzzzz: 1}"));
  for (const char *key : {"device", "network", "servers", "limits", "interference", "collectives"})
    EXPECT_EQ(keysOf(maps.at(key)), readersKeys(labWith(std::string(key) + ": {zzzzzzzzzzzz: 1}")))
        << key;
  const std::string network = "network: {kind: ethernet-1g}, ";
  EXPECT_EQ(keysOf(maps.at("inside")), readersKeys(labWith(network + "inside: {zzzzzzzzzzzz: 1}")));
  const nlohmann::json &change = maps.at("overrides").at("items");
  EXPECT_EQ(keysOf(change), readersKeys(labWith(network + "overrides: [{zzzzzzzzzzzz: 1}]")));
  for (const char *key : {"device", "network"})
    EXPECT_EQ(
        keysOf(change.at("properties").at(key)),
        readersKeys(labWith(network + "overrides: [{nodes: [0], " + key + ": {zzzzzzzzzzzz: 1}}]")))
        << key;
}

// The schema's kinds are those that there are.
TEST(ClusterSchema, Kinds) {
  auto expectKinds = [](const char *definition, std::span<const std::string_view> kinds) {
    EXPECT_EQ(schema().at("definitions").at(definition).at("enum").get<Names>(),
              Names(kinds.begin(), kinds.end()));
  };
  expectKinds("device-kind", deviceKinds());
  expectKinds("network-kind", linkKinds(LinkPlace::betweenNodes));
  expectKinds("inside-kind", linkKinds(LinkPlace::insideNode));
}

Names schemesThat(bool (*keep)(Scheme)) {
  Names names;
  for (Scheme scheme : allSchemes())
    if (keep(scheme))
      names.insert(std::string(schemeName(scheme)));
  return names;
}

// Both schemas list the schemes, and cluster files state what has a formula by it.
TEST(ClusterSchema, Schemes) {
  const auto plan = nlohmann::json::parse(textOf(top / "codegen/json/plan.schema.json"));
  EXPECT_EQ(plan.at("definitions").at("scheme").at("enum").get<Names>(),
            schemesThat([](Scheme) { return true; }));
  const nlohmann::json &stated = schema().at("properties").at("collectives").at("properties");
  const nlohmann::json &forms = stated.at("all-reduce").at("anyOf");
  EXPECT_EQ(keysOf(forms.at(1)), schemesThat(isAllReduce));
  EXPECT_EQ(forms.at(0).at("allOf").at(1).at("properties").at("formula").at("enum").get<Names>(),
            schemesThat([](Scheme scheme) { return isAllReduce(scheme) && hasFormula(scheme); }));
  for (Scheme scheme : allSchemes()) {
    const std::string name(schemeName(scheme));
    const nlohmann::json &keys = isAllReduce(scheme) ? forms.at(1).at("properties") : stated;
    if (hasFormula(scheme)) {
      EXPECT_EQ(keys.at(name).at("allOf").at(1).at("properties").at("formula").at("const"), name);
    } else if (keys.contains(name)) {
      EXPECT_EQ(keys.at(name).at("$ref"), "#/definitions/measured");
    }
  }
}

// The driver's page has a row for each scheme, which says what its row of Schemes.inc does.
TEST(ClusterSchema, DriversTableOfSchemes) {
  const std::string readme = textOf(top / "frontend/driver/README.md");
  const std::size_t begin = readme.find("| scheme | what happens |");
  ASSERT_NE(begin, std::string::npos);
  const std::string table = readme.substr(begin, readme.find("\n\n", begin) - begin);
  std::string expected, found;
  for (Scheme scheme : allSchemes()) {
    const char *kinds[] = {"all-reduce", "servers", "sharded", "gathered"};
    auto yes = [](bool is) { return is ? "yes" : "no"; };
    const bool own = isCarried(scheme, false), nccl = isCarried(scheme, true);
    expected += "`" + std::string(schemeName(scheme)) + "` | " +
                kinds[static_cast<int>(schemeKind(scheme))] + " | " + yes(hasFormula(scheme)) +
                " | " + yes(hasHalves(scheme)) + " | " + (own ? "Syncline" : "") +
                (own && nccl ? ", " : "") + (nccl ? "NCCL" : "") + "\n";
  }
  const std::regex row("\n\\| (`[a-z-]+`) \\|[^|]*\\|[^|]*\\| ([^|]*\\|[^|]*\\|[^|]*\\|[^|]*) \\|");
  for (std::sregex_iterator it(table.begin(), table.end(), row); it != std::sregex_iterator(); ++it)
    found += (*it)[1].str() + " | " + (*it)[2].str() + "\n";
  EXPECT_EQ(found, expected);
}

/// Keys with those of their maps, joined by dots; overrides as if they were one map.
void collectPaths(const nlohmann::json &map, const std::string &prefix, Names &paths) {
  for (const auto &[key, value] : map.at("properties").items()) {
    const nlohmann::json &inner = value.contains("items") ? value.at("items") : value;
    paths.insert(prefix + key);
    if (inner.contains("properties"))
      collectPaths(inner, prefix + key + ".", paths);
  }
}

// The page's table has a row for every key.
TEST(ClusterSchema, ReadmeTable) {
  Names paths, rows;
  collectPaths(schema(), "", paths);
  const std::string readme = textOf("README.md");
  const std::size_t begin = readme.find("| key | type | default | meaning |");
  ASSERT_NE(begin, std::string::npos);
  const std::string table = readme.substr(begin, readme.find("\n\n", begin) - begin);
  const std::regex row("\n\\| `([a-z.-]+)` \\|");
  for (std::sregex_iterator it(table.begin(), table.end(), row); it != std::sregex_iterator(); ++it)
    EXPECT_TRUE(rows.insert((*it)[1]).second) << (*it)[1];
  EXPECT_EQ(rows, paths);
}

// The page's tables of kinds name each: whole, or by the end that tells it from its neighbours.
TEST(ClusterSchema, ReadmeKinds) {
  const std::string readme = textOf("README.md");
  auto expectNamed = [&](std::span<const std::string_view> kinds) {
    for (std::string_view kind : kinds) {
      const std::string whole = "`" + std::string(kind) + "`";
      const std::string end =
          "`" + std::string(kind.substr(std::min(kind.rfind('-'), kind.size())));
      EXPECT_TRUE(readme.find(whole) != std::string::npos ||
                  (end != "`" && readme.find(end + "`") != std::string::npos))
          << kind;
    }
  };
  expectNamed(deviceKinds());
  expectNamed(linkKinds(LinkPlace::betweenNodes));
  expectNamed(linkKinds(LinkPlace::insideNode));
}

} // namespace
} // namespace syncline::files
