// The meeting point: keys, gathers, agreements, and whose fault a failure is.
#include "Ranks.h"

#include <atomic>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <netdb.h>

/// A name that is unknown so many times, and then is this host's.
static constexpr const char *lateHost = "late.invalid";
static std::atomic<int> lateAnswers = 0;

/// Takes the place of the C library's.
extern "C" int getaddrinfo(const char *name, const char *service, const addrinfo *hints,
                           addrinfo **found) {
  const bool isLate = name && std::strcmp(name, lateHost) == 0;
  if (isLate && lateAnswers > 0) {
    --lateAnswers;
    return EAI_NONAME;
  }
  static const auto real =
      reinterpret_cast<decltype(&getaddrinfo)>(dlsym(RTLD_NEXT, "getaddrinfo"));
  return real(isLate ? "127.0.0.1" : name, service, hints, found);
}

namespace syncline {
namespace {

using namespace core;
using namespace transport;

using test::eventually, test::patience;
using testing::runRanks;

struct Meeting {
  int port = 0;
  std::unique_ptr<StoreServer> server;
  explicit Meeting(int size, const RankNames &names = {}) {
    Result<Socket> listener = Socket::listen(0);
    port = listener->localPort();
    server = std::make_unique<StoreServer>(std::move(*listener), size, names);
  }
  Result<Store> store(int rank, int size) {
    return Store::connect("127.0.0.1", port, rank, size, deadlineIn(patience));
  }
  std::unique_ptr<Watch> watch(int rank, int size) {
    return std::move(*Watch::connect("127.0.0.1", port, rank, size, deadlineIn(patience)));
  }
  /// A rank's connection to the server, which has taken it, by hand.
  Socket raw(const char *kind, int rank, int size) {
    auto socket = Socket::connect("127.0.0.1", port, deadlineIn(patience));
    EXPECT_TRUE(socket.isOk()) << socket.status().message();
    const Frame hello{RunKey().protocol(), kind, std::to_string(rank), std::to_string(size), ""};
    EXPECT_EQ(answer(*socket, hello), Frame{"ok"});
    return std::move(*socket);
  }
  static Frame answer(Socket &socket, const Frame &frame) {
    EXPECT_TRUE(sendFrame(socket, frame, deadlineIn(patience)));
    return next(socket);
  }
  static Frame next(Socket &socket) {
    Frame frame;
    EXPECT_TRUE(receiveFrame(socket, frame, deadlineIn(patience)));
    return frame;
  }
};

// A host whose name is not known yet is asked for again.
TEST(Socket, NameThatComesLate) {
  Result<Socket> listener = Socket::listen(0, "127.0.0.1");
  ASSERT_TRUE(listener.isOk());
  lateAnswers = 2;
  EXPECT_TRUE(Socket::connect(lateHost, listener->localPort(), deadlineIn(patience)).isOk());
  EXPECT_EQ(lateAnswers, 0);
  lateAnswers = 1;
  EXPECT_EQ(Socket::connect(lateHost, listener->localPort(), deadlineIn(0)).status().message(),
            "cannot resolve host 'late.invalid': Name or service not known");
}

// A frame that claims more than it has, or more than allowed, is refused.
TEST(Frames, MalformedIsRefused) {
  Frame frame;
  std::string good = encodeFrame({"a", std::string("b\0c", 3), ""});
  std::string copy = good;
  EXPECT_EQ(decodeFrame(copy, frame), FrameState::complete);
  EXPECT_EQ(frame, (Frame{"a", std::string("b\0c", 3), ""}));
  EXPECT_TRUE(copy.empty());
  for (std::size_t cut = 0; cut < good.size(); ++cut) {
    copy = good.substr(0, cut);
    EXPECT_EQ(decodeFrame(copy, frame), FrameState::incomplete);
  }
  copy = good;
  copy[4] = 100; // the first part would end behind the frame
  EXPECT_EQ(decodeFrame(copy, frame), FrameState::malformed);
  copy = std::string("\xff\xff\xff\xff", 4);
  EXPECT_EQ(decodeFrame(copy, frame), FrameState::malformed);
}

// Without the run's secret nobody is greeted, nor with another one.
TEST(Store, ExpectsTheSecret) {
  Result<Socket> listener = Socket::listen(0);
  const int port = listener->localPort();
  StoreServer server(std::move(*listener), 2, {}, {.secret = "secret"});
  const auto come = [&](const std::string &secret) {
    return Store::connect("127.0.0.1", port, 1, 2, deadlineIn(patience), {.secret = secret});
  };
  for (const char *other : {"", "other", "secret2"}) {
    const auto stranger = come(other);
    ASSERT_FALSE(stranger.isOk()) << other;
    EXPECT_EQ(stranger.status().message(),
              "no right answer at 127.0.0.1:" + std::to_string(port) +
                  ": rank 0 of this run has ended or was given another secret, or another program "
                  "listens there");
  }
  EXPECT_TRUE(come("secret").isOk());
}

// A stranger who takes a rank's place, sets and gives values, and leaves before all ranks are there
// has changed nothing. What ranks of a complete run have set stays.
TEST(Store, ForgetsWhoLeavesEarly) {
  Meeting meeting(2);
  auto zero = meeting.store(0, 2);
  ASSERT_TRUE(zero.isOk());
  {
    Socket stranger = meeting.raw("store", 1, 2);
    EXPECT_EQ(Meeting::answer(stranger, {"set", "stopped", "9"}), Frame{"ok"});
    EXPECT_TRUE(sendFrame(stranger, {"gather", "plan", "guess", "60000"}, deadlineIn(patience)));
  }
  std::optional<Store> one;
  ASSERT_TRUE(eventually([&] {
    auto came = meeting.store(1, 2); // turned away until the server knows that the stranger left
    if (came)
      one.emplace(std::move(*came));
    return came.isOk();
  }));
  EXPECT_EQ(*zero->get("stopped", Clock::now()), std::nullopt);
  std::thread other([&] { EXPECT_TRUE(one->gather("plan", "mine", deadlineIn(patience)).isOk()); });
  const auto gathered = zero->gather("plan", "mine", deadlineIn(patience));
  other.join();
  ASSERT_TRUE(gathered.isOk());
  EXPECT_EQ(*gathered, (std::vector<std::string>{"mine", "mine"}));
  ASSERT_TRUE(one->set("kept", "1").isOk());
  one.reset();
  EXPECT_EQ(**zero->get("kept", deadlineIn(patience)), "1");
}

// get returns at once what is set, and waits for what is not yet.
TEST(Store, GetWaitsForSet) {
  Meeting meeting(2);
  auto a = meeting.store(0, 2), b = meeting.store(1, 2);
  ASSERT_TRUE(a.isOk() && b.isOk());
  ASSERT_TRUE(a->set("first", "1").isOk());
  EXPECT_EQ(**b->get("first", deadlineIn(patience)), "1");
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50)); // mostly after the get
    ASSERT_TRUE(a->set("second", std::string("\0x", 2)).isOk());
  });
  EXPECT_EQ(**b->get("second", deadlineIn(patience)), std::string("\0x", 2));
  later.join();
}

// A key that nobody sets ends the wait at the deadline, with nothing.
TEST(Store, GetEndsAtItsDeadline) {
  Meeting meeting(1);
  auto a = meeting.store(0, 1);
  // Not by the time that rank 0 has to answer, either: then there would be an error.
  auto value = a->get("never", deadlineIn(0.1), /*grace=*/patience);
  ASSERT_TRUE(value.isOk());
  EXPECT_FALSE(value->has_value());
}

// Waits of more milliseconds than 32 bits hold do not end at once.
TEST(Store, LongWaits) {
  Meeting meeting(2);
  auto a = meeting.store(0, 2), b = meeting.store(1, 2);
  for (double seconds : {3e6, 1e9}) {
    const std::string key = std::to_string(seconds);
    std::thread later([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100)); // mostly after the get
      EXPECT_TRUE(a->set(key, "1").isOk());
      EXPECT_TRUE(a->gather(key, "0", deadlineIn(patience)).isOk());
    });
    auto value = b->get(key, deadlineIn(seconds));
    ASSERT_TRUE(value.isOk());
    EXPECT_EQ(*value, "1");
    EXPECT_TRUE(b->gather(key, "1", deadlineIn(seconds)).isOk());
    later.join();
  }
}

// A gather that lacks ranks says which.
TEST(Store, GatherNamesMissingRanks) {
  Meeting meeting(4);
  auto a = meeting.store(0, 4);
  Socket c = meeting.raw("store", 2, 4);
  ASSERT_TRUE(sendFrame(c, {"gather", "g", "", "1000000000"}, deadlineIn(patience)));
  auto all = a->gather("g", "", deadlineIn(0.2));
  ASSERT_FALSE(all.isOk());
  EXPECT_NE(all.status().message().find("ranks 1, 3"), std::string::npos) << all.status().message();
}

// Workers gather without servers; a server that is missed goes by its name; who waits longer hears
// of it as soon as the first one does.
TEST(Store, GatherAmongWorkers) {
  Meeting meeting(4, RankNames{2});
  const std::string missing = "server 0 (rank 2), server 1 (rank 3)", days = "1000000000";
  auto a = meeting.store(0, 4), server = meeting.store(2, 4);
  Socket b = meeting.raw("store", 1, 4);
  ASSERT_TRUE(sendFrame(b, {"gather-workers", "w", "1", days}, deadlineIn(patience)));
  auto workers = a->gather("w", "0", deadlineIn(patience), /*workersOnly=*/true);
  ASSERT_TRUE(workers.isOk()) << workers.status().message();
  EXPECT_EQ(*workers, (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(Meeting::next(b), (Frame{"ok", "0", "1"}));
  ASSERT_TRUE(sendFrame(b, {"gather", "g", "", days}, deadlineIn(patience)));
  auto all = a->gather("g", "", deadlineIn(0.2));
  ASSERT_FALSE(all.isOk());
  EXPECT_EQ(all.status().message(), "no sign in time of " + missing);
  EXPECT_EQ(Meeting::next(b), (Frame{"late", missing, ""}));
}

// Rank 0 of one job does not train with rank 1 of another, nor with one of no job.
TEST(Store, AnotherJob) {
  Result<Socket> listener = Socket::listen(0);
  const int port = listener->localPort();
  StoreServer server(std::move(*listener), 2, {}, {.job = "Slurm job 1.0"});
  const auto join = [&](const std::string &job) {
    return Store::connect("127.0.0.1", port, 1, 2, deadlineIn(patience), {.job = job}).status();
  };
  EXPECT_TRUE(join("Slurm job 1.0"));
  EXPECT_EQ(join("Slurm job 2.0").exitCode(), 1);
  EXPECT_EQ(join("Slurm job 2.0").message(),
            "rank 1 belongs to 'Slurm job 2.0', rank 0 to 'Slurm job 1.0'");
  EXPECT_EQ(join("").message(),
            "rank 1 belongs to a job without a name, rank 0 to 'Slurm job 1.0'");
}

// A process of a run of another size is told so and turned away; this run goes on, and when a rank
// is missing, its message names who came.
TEST(Store, OtherNumberOfRanks) {
  Meeting meeting(2);
  auto a = meeting.store(0, 2);
  auto stray = meeting.store(1, 4);
  ASSERT_FALSE(stray.isOk());
  const std::string wanted = "rank 1 was started as one of 4 ranks, rank 0 as one of 2";
  EXPECT_EQ(stray.status().message(), wanted);
  auto all = a->gather("g", "", deadlineIn(0.2));
  ASSERT_FALSE(all.isOk());
  EXPECT_EQ(all.status().message(), "no sign in time of rank 1; turned away: " + wanted);
  auto b = meeting.store(1, 2);
  ASSERT_TRUE(b.isOk()) << b.status().message();
  EXPECT_FALSE(meeting.store(7, 9).isOk());
  EXPECT_TRUE(b->gather("g", "", deadlineIn(patience)).isOk());
}

// The second of two processes with one rank is refused.
TEST(Store, SameRankTwice) {
  Meeting meeting(3);
  auto a = meeting.store(0, 3), b = meeting.store(1, 3);
  auto again = meeting.store(1, 3), beyond = meeting.store(3, 3);
  ASSERT_FALSE(again.isOk() || beyond.isOk());
  EXPECT_EQ(again.status().message(), "two processes were started as rank 1");
  EXPECT_TRUE(b->set("x", "").isOk());
  auto all = a->gather("g", "", deadlineIn(0.2));
  ASSERT_FALSE(all.isOk());
  EXPECT_EQ(all.status().message(),
            "no sign in time of ranks 1, 2; turned away: two processes were "
            "started as rank 1, rank 3 is none of 3 ranks");
}

// Something that speaks another protocol neither hangs nor disturbs the others.
TEST(Store, StrangersAreDropped) {
  Meeting meeting(1);
  auto stranger = Socket::connect("127.0.0.1", meeting.port, deadlineIn(patience));
  ASSERT_TRUE(stranger->sendAll("GET / HTTP/1.1\r\n\r\n", deadlineIn(patience)));
  char byte;
  EXPECT_FALSE(stranger->receiveAll(&byte, 1, deadlineIn(patience)));
  EXPECT_TRUE(meeting.store(0, 1).isOk());
}

// Ranks that hold different plans all get the same message, which names them.
TEST(Group, DisagreementNamesTheRanks) {
  const auto body = [](int rank, Group &group) {
    const Status s = group.agree({{"plan", rank == 1 ? "beef" : "cafe"}});
    EXPECT_EQ(s.message(), "the ranks differ in their plan: rank 1 'beef', ranks 0, 2 'cafe'");
    EXPECT_EQ(s.exitCode(), 1);
  };
  runRanks(3, body, /*connect=*/false);
}

// The message leaves out options that all ranks have.
TEST(Group, DisagreementNamesTheOptions) {
  const char *const given[] = {"--lr 1 --seed 0 --shuffle", "--lr 1 --seed 0", "--lr 2 --seed 0"};
  const auto body = [&](int rank, Group &group) {
    EXPECT_EQ(group.agree({{"options", given[rank]}}).message(),
              "the ranks differ in their options: rank 1 '--lr 1', rank 0 '--lr 1 --shuffle', rank "
              "2 '--lr 2'");
  };
  runRanks(3, body, /*connect=*/false);
}

// A rank whose connection closes without goodbye has ended; with goodbye it has not. The first
// rank that has ended is the one that all are told.
TEST(Watch, EndWithoutGoodbye) {
  Meeting meeting(3);
  auto a = meeting.watch(0, 3);
  meeting.watch(1, 3).reset(); // leaves
  {
    Socket ends = meeting.raw("watch", 2, 3);
    EXPECT_FALSE(a->verdict().has_value());
  }
  ASSERT_TRUE(eventually([&] { return a->verdict().has_value(); }));
  EXPECT_EQ(a->verdict()->describe(), "rank 2 (its process ended)");
}

// 3 waits for 2, 2 waits for 1, 1 says nothing: 1 is stuck, whoever complains.
TEST(Watch, StuckRankAtTheEndOfTheChain) {
  Meeting meeting(4);
  std::vector<std::unique_ptr<Watch>> watches;
  std::deque<Watch::Waiting> waits;
  for (int rank : {0, 2, 3}) {
    watches.push_back(meeting.watch(rank, 4));
    waits.emplace_back(watches.back().get(), (rank + 3) % 4, rank == 0);
  }
  const Socket silent = meeting.raw("watch", 1, 4);
  Verdict v = watches[2]->report(2, "timed out");
  EXPECT_EQ(v.rank, 1);
  EXPECT_EQ(v.kind, "stuck");
  EXPECT_EQ(watches[0]->report(3, "timed out").rank, 1);
}

// A rank that waits for nobody holds the others up.
TEST(Watch, BusyRank) {
  Meeting meeting(2);
  auto a = meeting.watch(0, 2), b = meeting.watch(1, 2);
  Watch::Waiting waiting(a.get(), 1, false);
  EXPECT_EQ(a->report(1, "timed out").describe(), "rank 1 (it answers, but did not come in time)");
}

// A rank that waits in two threads still waits when one of them is through.
TEST(Watch, WaitsOfTwoThreads) {
  Meeting meeting(3);
  auto a = meeting.watch(0, 3), b = meeting.watch(1, 3), c = meeting.watch(2, 3);
  auto first = std::make_unique<Watch::Waiting>(b.get(), 0, false);
  Watch::Waiting second(b.get(), 2, false);
  EXPECT_EQ(b->waitsFor(), (std::vector<int>{0, 2}));
  first.reset();
  EXPECT_EQ(b->waitsFor(), std::vector<int>{2});
  Watch::Waiting waiting(a.get(), 1, false);
  EXPECT_EQ(a->report(1, "timed out").describe(), "rank 2 (it answers, but did not come in time)");
}

// Nobody who said goodbye is stuck: in a circle, the one complained of holds it up.
TEST(Watch, DepartedRankIsNotStuck) {
  Meeting meeting(4);
  std::vector<std::unique_ptr<Watch>> watches;
  std::deque<Watch::Waiting> waits;
  for (int rank : {0, 1, 2})
    watches.push_back(meeting.watch(rank, 4));
  meeting.watch(3, 4).reset();
  for (int rank : {0, 1, 2})
    waits.emplace_back(watches[rank].get(), (rank + 1) % 3, false);
  EXPECT_EQ(watches[0]->report(1, "timed out").describe(),
            "rank 1 (it answers, but did not come in time)");
}

// Who waits for a rank that left hears that it has ended.
TEST(Watch, WaitingForADepartedRank) {
  Meeting meeting(2);
  auto a = meeting.watch(0, 2);
  meeting.watch(1, 2).reset();
  Watch::Waiting waiting(a.get(), 1, false);
  EXPECT_EQ(a->report(1, "closed").describe(), "rank 1 (its process ended)");
}

// An error of the meeting point says when, in the words of whoever asks.
TEST(Store, SaysWhenARankWasLost) {
  Meeting meeting(2);
  auto a = meeting.watch(0, 2), b = meeting.watch(1, 2);
  auto store = meeting.store(0, 2);
  b->fail("no");
  ASSERT_TRUE(eventually([&] { return a->verdict().has_value(); }));
  EXPECT_EQ(store->set("x", "").message(), "lost rank 1 (it failed: no) during start-up");
  store->enter("during evaluation");
  EXPECT_EQ(store->gather("g", "", deadlineIn(patience)).status().message(),
            "lost rank 1 (it failed: no) during evaluation");
}

// A rank that fails by itself tells the others why.
TEST(Watch, FailureIsPassedOn) {
  Meeting meeting(2);
  auto a = meeting.watch(0, 2), b = meeting.watch(1, 2);
  b->fail("file 'x' is empty");
  ASSERT_TRUE(eventually([&] { return a->verdict().has_value(); }));
  EXPECT_EQ(a->verdict()->describe(), "rank 1 (it failed: file 'x' is empty)");
}

} // namespace
} // namespace syncline
