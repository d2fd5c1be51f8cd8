// What a run sets for NCCL, and what it warns of.
#include "runtime/cuda/nccl/NcclEnvironment.h"

#include <gtest/gtest.h>

#include <map>

namespace syncline::cuda {
namespace {

using namespace core;

using Variables = std::map<std::string, std::string>;

NcclEnvironment environmentOf(const Variables &user, const ChannelOptions &options = {},
                              const DevicePlaces &places = {},
                              Channels channels = Channels::several) {
  return ncclEnvironment(options, places, channels, 3, "/lib/tuner.so", "/plan/nccl-tuner.csv",
                         [&](const char *name) {
                           const auto found = user.find(name);
                           return found == user.end() ? nullptr : found->second.c_str();
                         });
}

Variables settingsOf(const Variables &user, const ChannelOptions &options = {},
                     const DevicePlaces &places = {}) {
  const auto made = environmentOf(user, options, places).settings;
  return {made.begin(), made.end()};
}

TEST(NcclEnvironmentTest, NamesTheTunerAndTheOrder) {
  EXPECT_EQ(settingsOf({}), (Variables{{"NCCL_LAUNCH_ORDER_IMPLICIT", "1"},
                                       {"NCCL_TUNER_PLUGIN", "/lib/tuner.so"},
                                       {"SYNCLINE_NCCL_TABLE", "/plan/nccl-tuner.csv"}}));
  EXPECT_TRUE(environmentOf({}).warnings.empty());
  EXPECT_EQ(ncclEnvironment({}, {}, Channels::several, 0, "", "/plan/nccl-tuner.csv",
                            [](const char *) { return static_cast<const char *>(nullptr); })
                .settings.size(),
            1u);
}

// Channels may choose differently: each has its table, unless the user names a tuner.
TEST(NcclEnvironmentTest, NamesTheTableOfEachChannel) {
  using Settings = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(environmentOf({}).forTable("/tree/nccl-tuner.csv"),
            (Settings{{"SYNCLINE_NCCL_TABLE", "/tree/nccl-tuner.csv"}}));
  EXPECT_TRUE(environmentOf({}).forTable("").empty());
  EXPECT_TRUE(environmentOf({{"NCCL_TUNER_PLUGIN", "none"}}).forTable("/t.csv").empty());
}

TEST(NcclEnvironmentTest, GivesRanksOnOneDeviceHostsOfTheirOwn) {
  Variables made = settingsOf({}, {}, {.areShared = true});
  EXPECT_EQ(made["NCCL_HOSTID"], "syncline-3");
  EXPECT_EQ(made["NCCL_NET"], "Socket");
  EXPECT_EQ(made["NCCL_SOCKET_IFNAME"], "=lo");
  EXPECT_EQ(made["NCCL_MNNVL_ENABLE"], "0");
  made =
      settingsOf({{"NCCL_SOCKET_IFNAME", "eth1"}, {"NCCL_HOSTID", "a"}}, {}, {.areShared = true});
  EXPECT_FALSE(made.contains("NCCL_HOSTID"));
  EXPECT_FALSE(made.contains("NCCL_SOCKET_IFNAME"));
  // No loopback leads to another machine.
  made = settingsOf({}, {}, {.areShared = true, .areOneMachine = false});
  EXPECT_EQ(made["NCCL_HOSTID"], "syncline-3");
  EXPECT_FALSE(made.contains("NCCL_SOCKET_IFNAME"));
}

// Ranks that have devices of their own keep the links between these.
TEST(NcclEnvironmentTest, ComparesPlaces) {
  const auto found = comparePlaces({"a 0:1:0", "a 0:2:0", "b 0:1:0"}, false);
  ASSERT_TRUE(found.isOk());
  EXPECT_FALSE(found->areShared);
  EXPECT_FALSE(found->areOneMachine);
  EXPECT_TRUE(comparePlaces({"a 0:1:0", "a 0:2:0"}, true)->areOneMachine);
  EXPECT_FALSE(comparePlaces({"a 0:1:0", "a 0:2:0"}, true)->areShared);
  const std::vector<std::string> crowded{"a 0:1:0", "a 0:2:0", "a 0:1:0"};
  EXPECT_TRUE(comparePlaces(crowded, true)->areShared);
  EXPECT_EQ(
      comparePlaces(crowded, false).status().message(),
      "ranks 0 and 2 have one device: expected one each, or '--share-device'; MIG instances of "
      "one GPU are one device, for NCCL too");
}

TEST(NcclEnvironmentTest, TellsTheTunerOfHalves) {
  ChannelOptions halves;
  halves.wire = WirePrecision::bf16;
  EXPECT_EQ(settingsOf({}, halves)["SYNCLINE_NCCL_ELEMENT_BYTES"], "2");
  halves.wire = WirePrecision::fp16;
  EXPECT_EQ(settingsOf({}, halves)["SYNCLINE_NCCL_ELEMENT_BYTES"], "2");
}

// Messages of one channel have an order as it is.
TEST(NcclEnvironmentTest, OrdersSeveralChannelsOnly) {
  const NcclEnvironment one =
      environmentOf({{"NCCL_LAUNCH_ORDER_IMPLICIT", "0"}}, {}, {}, Channels::one);
  EXPECT_TRUE(one.warnings.empty());
  for (const auto &[name, value] : environmentOf({}, {}, {}, Channels::one).settings)
    EXPECT_NE(name, "NCCL_LAUNCH_ORDER_IMPLICIT");
}

TEST(NcclEnvironmentTest, RanksOnOneDeviceNeedTheLoopback) {
  const auto check = [](const DevicePlaces &places, const Variables &user,
                        const std::set<std::string> &usable) {
    return expectLoopback(
               places,
               [&](const char *name) {
                 return user.contains(name) ? user.at(name).c_str() : nullptr;
               },
               usable)
        .message();
  };
  const DevicePlaces shared{.areShared = true};
  EXPECT_EQ(check(shared, {}, {"eth0"}),
            "'--share-device' sends messages through the interface 'lo', which is down or has no "
            "IPv4 address: expected it up, or another interface in NCCL_SOCKET_IFNAME");
  EXPECT_EQ(check(shared, {}, {"eth0", "lo"}), "");
  EXPECT_EQ(check(shared, {{"NCCL_SOCKET_IFNAME", "eth0"}}, {"eth0"}), "");
  EXPECT_EQ(check({}, {}, {}), "");
  EXPECT_EQ(check({.areShared = true, .areOneMachine = false}, {}, {}), "");
}

// What the user says stands; what contradicts the plan is told, one line each.
TEST(NcclEnvironmentTest, WarnsOfWhatContradictsThePlan) {
  const NcclEnvironment made = environmentOf({{"NCCL_ALGO", "Tree"},
                                              {"NCCL_PROTO", ""},
                                              {"NCCL_MAX_NCHANNELS", "2"},
                                              {"NCCL_TUNER_PLUGIN", "none"},
                                              {"NCCL_LAUNCH_ORDER_IMPLICIT", "0"},
                                              {"NCCL_P2P_DISABLE", "1"},
                                              {"NCCL_DEBUG", "INFO"}});
  EXPECT_TRUE(made.settings.empty());
  EXPECT_EQ(
      made.warnings,
      (std::vector<std::string>{
          "warning: NCCL_ALGO=Tree keeps NCCL from sending messages as the plan says",
          "warning: NCCL_MAX_NCHANNELS=2 keeps NCCL from sending messages as the plan says",
          "warning: NCCL_TUNER_PLUGIN=none keeps NCCL from sending messages as the plan says",
          "warning: NCCL_LAUNCH_ORDER_IMPLICIT=0 lets messages of different channels wait for each "
          "other"}));
}

} // namespace
} // namespace syncline::cuda
