// The files of checkpoints: what comes back, what is refused, what is removed.
#include "TinyPlan.h"

#include "runtime/run/checkpoint/CheckpointCosts.h"
#include "runtime/run/checkpoint/CheckpointReader.h"
#include "runtime/run/checkpoint/Sha256.h"
#include "runtime/run/options/CheckpointOptions.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <limits>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

namespace syncline {
namespace {

using namespace run;
using namespace testing;
using Kind = CheckpointKey::Kind;

std::vector<std::byte> bytesOf(const std::string &text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::vector<CheckpointPart> someParts() {
  return {{{Kind::parameter, "fc/w \"ü\"", 0, 0}, bytesOf("weights")},
          {{Kind::state, "bn/mean", 0, 0}, bytesOf("")},
          {{Kind::optimizer, "fc/w \"ü\"", 1, 64}, bytesOf(std::string(3 << 20, 'v'))}};
}

CheckpointManifest someManifest(std::int64_t step = 400) {
  CheckpointManifest m;
  m.plan = "tiny";
  m.planHash = "abc";
  m.consistency = "bsp";
  m.layout = "layout";
  m.ranks = 2;
  m.batch = 8;
  m.step = step;
  m.epoch = 3;
  m.batchInEpoch = 7;
  m.samples = 1000;
  m.options = "--lr 0.1 --seed 0";
  m.lossSum = std::numeric_limits<double>::quiet_NaN();
  m.losses = 7;
  m.files = {{100, std::string(64, 'a')}, {200, std::string(64, 'b')}};
  return m;
}

/// Makes a complete checkpoint of one rank with one part.
void make(const CheckpointFolder &folder, std::int64_t step) {
  std::filesystem::create_directories(folder.of(step));
  const std::vector<CheckpointPart> parts{{{Kind::parameter, "w", 0, 0}, bytesOf("value")}};
  const auto digest = writeCheckpointFile(folder.fileOf(step, 0), parts);
  ASSERT_TRUE(digest.isOk());
  CheckpointManifest m = someManifest(step);
  m.ranks = 1;
  m.files = {*digest};
  ASSERT_TRUE(folder.complete(m).isOk());
}

// Every part comes back with its bytes, and the digest is that of the file.
TEST(CheckpointFile, RoundTrip) {
  const TemporaryFolder folder;
  const auto parts = someParts();
  const auto digest = writeCheckpointFile(folder.file("f"), parts);
  ASSERT_TRUE(digest.isOk());
  EXPECT_EQ(CheckpointManifest::whyBad(folder.file("f"), *digest), "");
  auto file = CheckpointFile::open(folder.file("f"));
  ASSERT_TRUE(file.isOk()) << file.status().message();
  ASSERT_EQ(file->parts().size(), parts.size());
  for (const auto &[key, bytes] : parts) {
    std::vector<std::byte> read(static_cast<std::size_t>(file->parts().at(key)));
    ASSERT_TRUE(file->read(key, 0, read).isOk());
    EXPECT_EQ(read, bytes);
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path), {}), 1);
}

// A file that is cut at any length or has any byte changed is told from a good one.
TEST(CheckpointFile, JudgesChanges) {
  const TemporaryFolder folder;
  const std::vector<CheckpointPart> parts{{{Kind::parameter, "w", 0, 0}, bytesOf("values")}};
  const auto digest = writeCheckpointFile(folder.file("f"), parts);
  ASSERT_TRUE(digest.isOk());
  const std::string good = readFile(folder.file("f"));
  for (std::size_t i = 0; i < good.size(); ++i) {
    writeFile(folder.file("f"), good.substr(0, i));
    EXPECT_NE(CheckpointManifest::whyBad(folder.file("f"), *digest).find("is cut off: "),
              std::string::npos);
    std::string flipped = good;
    flipped[i] ^= 1;
    writeFile(folder.file("f"), flipped);
    EXPECT_EQ(CheckpointManifest::whyBad(folder.file("f"), *digest),
              "was changed: its SHA-256 differs");
  }
  writeFile(folder.file("f"), good + "x");
  EXPECT_EQ(CheckpointManifest::whyBad(folder.file("f"), *digest).substr(0, 12), "is too long:");
  std::filesystem::remove(folder.file("f"));
  EXPECT_EQ(CheckpointManifest::whyBad(folder.file("f"), *digest), "is missing");
}

TEST(CheckpointFile, RefusesOtherFiles) {
  const TemporaryFolder folder;
  for (const std::string &text :
       {std::string(), std::string("SYNCKPT1"), std::string("NOTMINE1\2\0\0\0\0\0\0\0{}", 18),
        std::string("SYNCKPT1\377\377\377\377\377\377\377\377{}", 18),
        std::string("SYNCKPT1\2\0\0\0\0\0\0\0{}", 18)}) {
    writeFile(folder.file("f"), text);
    const auto file = CheckpointFile::open(folder.file("f"));
    ASSERT_FALSE(file.isOk());
    EXPECT_NE(file.status().message().find(folder.file("f")), std::string::npos);
  }
}

/// A file whose table is `parts`, with `bytes` behind it.
std::string fileWith(const nlohmann::json &parts, const std::string &bytes) {
  const std::string table = nlohmann::json{{"parts", parts}}.dump();
  const std::uint64_t length = table.size();
  return "SYNCKPT1" + std::string(reinterpret_cast<const char *>(&length), sizeof length) + table +
         bytes;
}

nlohmann::json entry(const std::string &name, const nlohmann::json &bytes) {
  return {{"kind", "parameter"}, {"name", name}, {"slot", 0}, {"begin", 0}, {"bytes", bytes}};
}

// The parts lie behind the table, one after the other, to the end of the file.
TEST(CheckpointFile, RefusesPartsOutside) {
  const TemporaryFolder folder;
  const auto opens = [&](const std::vector<nlohmann::json> &parts) {
    writeFile(folder.file("f"), fileWith(parts, "value"));
    return CheckpointFile::open(folder.file("f")).isOk();
  };
  EXPECT_TRUE(opens({entry("w", 5)}));
  EXPECT_TRUE(opens({entry("v", 0), entry("w", 5)}));
  EXPECT_FALSE(opens({entry("w", 4)}));
  EXPECT_FALSE(opens({entry("w", 6)}));
  EXPECT_FALSE(opens({entry("w", -1)}));
  EXPECT_FALSE(opens({entry("w", 4.5)}));
  EXPECT_FALSE(opens({entry("w", 5), entry("w", 0)}));
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  EXPECT_FALSE(opens({entry("a", most), entry("b", most), entry("w", 7)})); // the sum wraps to 5
  for (const auto &[key, value] : std::vector<std::pair<const char *, std::int64_t>>{
           {"slot", -1}, {"slot", 1LL << 32}, {"begin", -64}}) {
    nlohmann::json wrong = entry("w", 5);
    wrong[key] = value;
    EXPECT_FALSE(opens({wrong})) << key;
  }
  nlohmann::json deep = 0;
  for (int level = 0; level < 30; ++level)
    deep = nlohmann::json::array({deep});
  EXPECT_FALSE(opens({deep}));
}

// Links are not followed, and what is no file is not opened.
TEST(CheckpointFile, RefusesWhatIsNoFile) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo(folder.file("pipe").c_str(), 0600), 0);
  const auto digest = writeCheckpointFile(folder.file("good"), someParts());
  ASSERT_TRUE(digest.isOk());
  std::filesystem::create_symlink(folder.file("good"), folder.file("link"));
  for (const auto &[name, why] :
       {std::pair("pipe", "is not a regular file"), std::pair("link", "is a link")}) {
    const CheckpointDigest empty{0, sha256("")};
    const std::string said = CheckpointManifest::whyBad(
        folder.file(name), std::string(name) == "pipe" ? empty : *digest);
    EXPECT_NE(said.find(why), std::string::npos) << said;
    EXPECT_FALSE(CheckpointFile::open(folder.file(name)).isOk());
  }
}

// A file that cannot be written leaves nothing behind.
TEST(CheckpointFile, LeavesNothingHalfWritten) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.file("f/in the way"));
  const auto digest = writeCheckpointFile(folder.file("f"), someParts());
  ASSERT_FALSE(digest.isOk());
  EXPECT_EQ(digest.status().kind(), ErrorKind::badInput);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path), {}), 1);
}

TEST(CheckpointManifest, RoundTrip) {
  const CheckpointManifest m = someManifest();
  const auto again = CheckpointManifest::parse(m.text());
  ASSERT_TRUE(again.isOk()) << again.status().message();
  EXPECT_EQ(again->text(), m.text());
  EXPECT_TRUE(std::isnan(again->lossSum));
  EXPECT_EQ(again->batchInEpoch, 7);
  EXPECT_EQ(again->files[1].bytes, 200);
}

TEST(CheckpointManifest, RefusesChanges) {
  const std::string good = someManifest().text();
  for (std::size_t i = 0; i < good.size(); ++i) {
    if (i + 1 < good.size()) { // the end of the line is no part of the JSON
      EXPECT_FALSE(CheckpointManifest::parse(good.substr(0, i)).isOk()) << i;
    }
    std::string flipped = good;
    flipped[i] ^= 1;
    EXPECT_FALSE(CheckpointManifest::parse(flipped).isOk()) << i;
  }
  EXPECT_FALSE(CheckpointManifest::parse(std::string(100000, '[')).isOk());
}

/// The manifest with other values and the SHA-256 that fits them.
std::string changed(const CheckpointManifest &manifest, const nlohmann::ordered_json &values) {
  auto json = nlohmann::ordered_json::parse(manifest.text());
  json.update(values);
  json["sha256"] = "";
  json["sha256"] = sha256(json.dump());
  return json.dump();
}

// Numbers that no run writes are refused by their names, also under a good hash.
TEST(CheckpointManifest, RefusesNumbersOutOfRange) {
  using Values = nlohmann::ordered_json;
  EXPECT_TRUE(CheckpointManifest::parse(changed(someManifest(), {{"skipped_steps", 400}})).isOk());
  for (const auto &[key, value] : std::initializer_list<std::pair<const char *, Values>>{
           {"step", -5},
           {"step", 40.5},
           {"step", 1e300},
           {"step", std::numeric_limits<std::uint64_t>::max()},
           {"skipped_steps", -1},
           {"skipped_steps", 401},
           {"good_steps", -1},
           {"losses", 401},
           {"loss_scale", 0},
           {"loss_scale", -2},
           {"batch", -7},
           {"batch", 0},
           {"epoch", -1},
           {"batch_in_epoch", 1LL << 50},
           {"samples", -1},
           {"ranks", 0},
           {"ranks", 1LL << 40}}) {
    const auto read = CheckpointManifest::parse(changed(someManifest(), {{key, value}}));
    ASSERT_FALSE(read.isOk()) << key << " " << value;
    EXPECT_NE(read.status().message().find(key), std::string::npos) << read.status().message();
  }
}

// One of an older Syncline does not say of which model it is.
TEST(CheckpointManifest, ReadsOneWithoutModel) {
  auto json = nlohmann::ordered_json::parse(someManifest().text());
  json.erase("model_hash");
  json["sha256"] = "";
  json["sha256"] = sha256(json.dump());
  const auto read = CheckpointManifest::parse(json.dump());
  ASSERT_TRUE(read.isOk()) << read.status().message();
  EXPECT_EQ(read->modelHash, "");
}

// What is no folder of that step, or no file of some length, is not read.
TEST(CheckpointFolder, ReadsOnlyItsOwn) {
  const TemporaryFolder files;
  const CheckpointFolder folder(files.file("c"));
  make(folder, 10);
  std::filesystem::create_directory_symlink(folder.of(10), folder.of(20));
  std::filesystem::create_directories(files.file("c/step-5"));
  writeFile(folder.of(30), "");
  ASSERT_EQ(folder.list().size(), 1u);
  EXPECT_TRUE(folder.readManifest(10).isOk());
  for (const std::int64_t step : {1, 2, 3})
    std::filesystem::create_directories(folder.of(step));
  ASSERT_EQ(mkfifo(folder.manifestOf(1).c_str(), 0600), 0);
  std::filesystem::create_symlink(folder.manifestOf(10), folder.manifestOf(2));
  writeFile(folder.manifestOf(3), "");
  std::filesystem::resize_file(folder.manifestOf(3), std::uintmax_t{256} << 30);
  for (const std::int64_t step : {1, 2, 3}) {
    const auto read = folder.readManifest(step);
    ASSERT_FALSE(read.isOk()) << step;
    EXPECT_NE(read.status().message().find(folder.manifestOf(step)), std::string::npos);
  }
}

// A link at the file's place is replaced, and a folder that is a link is not written into.
TEST(CheckpointFile, WritesThroughNoLink) {
  const TemporaryFolder folder;
  writeFile(folder.file("victim"), "precious");
  std::filesystem::create_symlink(folder.file("victim"), folder.file("f"));
  std::filesystem::create_symlink(folder.file("victim"), folder.file("f.partial"));
  ASSERT_TRUE(writeCheckpointFile(folder.file("f"), someParts()).isOk());
  EXPECT_FALSE(std::filesystem::is_symlink(folder.file("f")));
  EXPECT_EQ(readFile(folder.file("victim")), "precious");
  std::filesystem::create_directories(folder.file("real"));
  std::filesystem::create_directory_symlink(folder.file("real"), folder.file("link"));
  EXPECT_FALSE(writeCheckpointFile(folder.file("link/f"), someParts()).isOk());
  EXPECT_TRUE(std::filesystem::is_empty(folder.file("real")));
}

// Checkpoints that are not there are counted as such.
TEST(CheckpointCosts, SaysHowManyAreMissing) {
  CheckpointCosts costs;
  costs.add(0.001, 0);
  EXPECT_TRUE(costs.text().starts_with("1 checkpoint: each held")) << costs.text();
  costs.add(0.001, 0);
  costs.failed = 1;
  EXPECT_TRUE(costs.text().starts_with("2 checkpoints (1 not written): each held")) << costs.text();
}

// What checkpoints consist of goes, with partial files of any version; other files stay.
TEST(CheckpointFolder, RemovesOnlyItsOwn) {
  const TemporaryFolder files;
  const CheckpointFolder folder(files.file("c"));
  for (const std::int64_t step : {10, 20})
    make(folder, step);
  for (const char *name :
       {"rank1.bin.partial", "rank12.bin.partial-0123abcd", "manifest.json.partial-1"})
    writeFile(folder.of(10) + "/" + name, "part");
  folder.remove(10);
  EXPECT_FALSE(std::filesystem::exists(folder.of(10)));
  for (const char *name : {"rank.bin", "rankx.bin", "model.bin", "manifest.json2"})
    writeFile(folder.of(20) + "/" + name, "foreign");
  folder.remove(20);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.of(20)), {}), 4);
  make(folder, 30);
  std::filesystem::create_directory_symlink(folder.of(30), folder.of(40));
  folder.remove(40);
  EXPECT_TRUE(folder.readManifest(30).isOk());
}

// The last K stay, and what was begun and not finished before them goes.
TEST(CheckpointFolder, KeepsTheLast) {
  const TemporaryFolder files;
  const CheckpointFolder folder(files.file("c"));
  EXPECT_TRUE(folder.list().empty());
  for (const std::int64_t step : {9, 10, 100, 200, 300})
    make(folder, step);
  for (const std::int64_t step : {50, 250})
    std::filesystem::create_directories(folder.of(step));
  std::filesystem::create_directories(files.file("c/step007"));
  folder.prune(200, 2);
  std::vector<std::int64_t> steps;
  for (const CheckpointFolder::Entry &entry : folder.list())
    steps.push_back(entry.step);
  EXPECT_EQ(steps, (std::vector<std::int64_t>{300, 250, 200, 100}));
  EXPECT_FALSE(folder.list()[1].hasManifest);
  EXPECT_TRUE(std::filesystem::exists(files.file("c/step007")));
}

// A moment is put together from parts that are cut otherwise, and a gap is found.
TEST(CheckpointReader, JoinsMoments) {
  const TemporaryFolder files;
  const CheckpointFolder folder(files.file("c"));
  std::filesystem::create_directories(folder.of(5));
  CheckpointManifest m = someManifest(5);
  m.files.clear();
  const auto moment = [](int slot, std::int64_t begin) {
    return CheckpointKey{Kind::optimizer, "w", slot, begin};
  };
  const std::vector<std::vector<CheckpointPart>> ranks{
      {{{Kind::state, "s", 0, 0}, bytesOf("zero")}, {moment(0, 4), bytesOf("efgh")}},
      {{{Kind::state, "s", 0, 0}, bytesOf("one!")},
       {moment(0, 0), bytesOf("abcd")},
       {moment(0, 12), bytesOf("mnop")}}};
  for (int rank = 0; rank < 2; ++rank)
    m.files.push_back(*writeCheckpointFile(folder.fileOf(5, rank), ranks[rank]));
  auto reader = CheckpointReader::open(folder, m, /*rank=*/1);
  ASSERT_TRUE(reader.isOk()) << reader.status().message();
  std::vector<std::byte> some(5);
  ASSERT_TRUE(reader->readMoment("w", 0, 2, some).isOk());
  EXPECT_EQ(some, bytesOf("cdefg"));
  const Status gap = reader->readMoment("w", 0, 6, some);
  ASSERT_FALSE(gap.isOk());
  EXPECT_NE(gap.message().find("moment 0 of 'w' from byte 8"), std::string::npos) << gap.message();
  EXPECT_FALSE(reader->readMoment("w", 1, 0, some).isOk());
  EXPECT_FALSE(reader->readMoment("a", 0, 0, some).isOk());
  EXPECT_TRUE(reader->hasMoments(0));
  EXPECT_FALSE(reader->hasMoments(1));
  std::vector<std::byte> own(4);
  ASSERT_TRUE(reader->read({Kind::state, "s", 0, 0}, own).isOk());
  EXPECT_EQ(own, bytesOf("one!"));
}

// Some options must not change, others are told, and those of checkpoints and reports are free.
TEST(CheckpointOptions, Comparison) {
  const auto forbidden = [](const char *before, const char *now) {
    return compareOptions(before, now).forbidden;
  };
  const auto changed = [](const char *before, const char *now) {
    return compareOptions(before, now).changed;
  };
  EXPECT_EQ(forbidden("--seed 0 --lr 1", "--seed 0 --lr 2"), "");
  EXPECT_EQ(forbidden("--seed 0", "--seed 1"), "--seed 0 is now 1");
  EXPECT_EQ(forbidden("--seed 0", "--seed 0 --shuffle"), "--shuffle is new");
  EXPECT_EQ(forbidden("--seed 0 --shuffle", "--seed 0"), "--shuffle is gone");
  EXPECT_EQ(changed("--lr 0.1 --nesterov", "--lr 0.01"),
            "--lr 0.1 is now 0.01, --nesterov is gone");
  EXPECT_EQ(changed("--lr 1", "--lr 1 --weight-decay 0.5"), "--weight-decay 0.5 is new");
  EXPECT_EQ(changed("--lr 1 --checkpoint --every 5", "--lr 1 --checkpoint --resume"), "");
}

} // namespace
} // namespace syncline
