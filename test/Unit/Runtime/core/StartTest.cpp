// How the processes of a job come together while strangers knock: at Control, without par-run.
#include "TinyPackage.h"
#include "comm/process/Control.h"
#include "comm/process/Meeting.h"

#include <atomic>
#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>

using namespace par::comm;
using par::test::TemporaryFolder;

namespace {

/// A rank 0 that listens on a port of 127.0.0.1, and whoever wants to talk to it.
class Start : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_TRUE(resolve("127.0.0.1", 0, place).ok());
    ASSERT_TRUE(listener.bind(place, 0).ok());
    ASSERT_TRUE(listener.listen().ok());
    place[0].setPort(listener.port());
  }
  Invitation invitation(const std::string &known) {
    return {"rank 0",
            [this](std::vector<Address> &addresses) { return addresses = place, par::io::Status(); },
            [known](const Address &, std::string &out) { return out = known, par::io::Status(); }};
  }
  Socket knock(const std::string &bytes = "") {
    Socket connection;
    EXPECT_TRUE(connectTo(place[0], after(10), connection).ok());
    EXPECT_TRUE(sendAll(connection, bytes.data(), bytes.size(), after(10)).ok());
    return connection;
  }
  /// Says `hello` and takes the challenge.
  Socket challenged(const Hello &hello, std::string &challenge) {
    Socket connection = knock(hello.bytes());
    challenge.assign(nonceBytes, '\0');
    EXPECT_TRUE(receiveAll(connection, challenge.data(), challenge.size(), after(10)).ok());
    return connection;
  }
  void prove(const Socket &connection, const Hello &hello, const std::string &challenge,
             const std::string &key) {
    std::string proof = guestProof({key, "control", 0}, hello, challenge);
    EXPECT_TRUE(sendAll(connection, proof.data(), proof.size(), after(10)).ok());
  }
  /// A hello of this protocol, and a proof made with whatever `key`.
  Socket impostor(int rank, int size, const std::string &key) {
    Hello hello{rank, size, std::string(nonceBytes, 'n')};
    std::string challenge;
    Socket connection = challenged(hello, challenge);
    prove(connection, hello, challenge, key);
    return connection;
  }
  /// Whether the other end hangs up without another word.
  static bool hangsUp(const Socket &connection) {
    char byte;
    return receiveAll(connection, &byte, 1, after(10)).message().find("closed") != std::string::npos;
  }

  std::vector<Address> place;
  Listener listener;
  const std::string key = std::string(32, 'k'), otherKey = std::string(32, 'o');
};

par::io::Status inThread(std::thread &thread, const std::function<par::io::Status()> &body,
                         par::io::Status &status) {
  thread = std::thread([body, &status] { status = body(); });
  return {};
}

} // namespace

TEST_F(Start, StrangersNeitherEndNorDelayIt) {
  std::vector<Socket> connections;
  for (int i = 0; i < 150; ++i) // silent ones, which cost two seconds each when they were waited for
    connections.push_back(knock());
  Control host(0, 3), one(1, 3), two(2, 3);
  std::thread hosting;
  par::io::Status hosted;
  inThread(
      hosting, [&] { return host.host(listener, key, after(60)); }, hosted);
  std::string older = "par-job1" + std::string(16, 't');
  for (const std::string &bytes : {older, older.substr(0, 9), std::string("GET / HTTP/1.1\r\n\r\n"),
                                   std::string(4096, '\xff'), std::string("par-job2"), std::string(1, '\0')})
    connections.push_back(knock(bytes));
  for (auto [rank, size] :
       {std::pair(1, 3), std::pair(0, 3), std::pair(-5, 3), std::pair(2, 99), std::pair(1 << 30, -1)}) {
    Socket refused = impostor(rank, size, otherKey);
    EXPECT_TRUE(hangsUp(refused)) << rank;
  }
  EXPECT_TRUE(one.join(invitation(key), after(30)).ok());
  EXPECT_TRUE(two.join(invitation(key), after(30)).ok());
  hosting.join();
  EXPECT_TRUE(hosted.ok()) << hosted.message();
  EXPECT_EQ(host.dataKey(), one.dataKey());
  EXPECT_EQ(host.dataKey(), two.dataKey());
  EXPECT_NE(host.dataKey(), key);
}

TEST_F(Start, EveryJobHasAKeyOfItsOwn) {
  std::string keys[2];
  for (std::string &derived : keys) {
    Control host(0, 2), guest(1, 2);
    std::thread hosting([&] { EXPECT_TRUE(host.host(listener, key, after(60)).ok()); });
    EXPECT_TRUE(guest.join(invitation(key), after(60)).ok());
    hosting.join();
    derived = guest.dataKey();
  }
  EXPECT_NE(keys[0], keys[1]);
}

TEST_F(Start, WhoKnowsTheSecretMustBeOneOfTheRanks) {
  for (auto [rank, size, said] :
       {std::tuple(1, 9, "a process was started as one of 9, rank 0 as one of 3"),
        std::tuple(0, 3, "was started as rank 0"), std::tuple(-5, 3, "was started as rank -5"),
        std::tuple(3, 3, "was started as rank 3")}) {
    Control host(0, 3, 0.1);
    std::thread hosting;
    par::io::Status hosted;
    inThread(
        hosting, [&] { return host.host(listener, key, after(60)); }, hosted);
    Socket guest = impostor(rank, size, key);
    hosting.join();
    EXPECT_NE(hosted.message().find(said), std::string::npos) << hosted.message();
  }
  Control host(0, 3, 0.1), one(1, 3), again(1, 3);
  std::thread hosting;
  par::io::Status hosted;
  inThread(
      hosting, [&] { return host.host(listener, key, after(60)); }, hosted);
  EXPECT_TRUE(one.join(invitation(key), after(30)).ok());
  EXPECT_TRUE(again.join(invitation(key), after(30)).ok());
  EXPECT_NE(again.state().message().find("rank 0 ended the job"), std::string::npos);
  hosting.join();
  EXPECT_NE(hosted.message().find("two processes are rank 1"), std::string::npos) << hosted.message();
}

TEST_F(Start, ARankThatDiesMeanwhileIsNamedAtOnce) {
  Control host(0, 4);
  std::thread hosting;
  par::io::Status hosted;
  inThread(
      hosting, [&] { return host.host(listener, key, after(600)); }, hosted);
  Control one(1, 4);
  EXPECT_TRUE(one.join(invitation(key), after(30)).ok());
  {
    Control two(2, 4);
    EXPECT_TRUE(two.join(invitation(key), after(30)).ok());
  }
  Control late(3, 4); // comes when it is over
  EXPECT_TRUE(late.join(invitation(key), after(30)).ok());
  EXPECT_NE(late.state().message().find("rank 0 ended the job"), std::string::npos);
  hosting.join();
  EXPECT_NE(hosted.message().find("rank 2 is gone before the first step"), std::string::npos)
      << hosted.message();
  one.start(0.05, 60); // and the others are told to end
  std::vector<std::string> all;
  EXPECT_NE(one.allGather("x", after(30), all).message().find("rank 0 ended the job"), std::string::npos);
}

TEST_F(Start, WhoCompletesAJobOfWhichOneDiedIsRefused) {
  Control host(0, 3, 0.1);
  std::thread hosting;
  par::io::Status hosted;
  inThread(
      hosting, [&] { return host.host(listener, key, after(60)); }, hosted);
  Hello hello{2, 3, std::string(nonceBytes, 'n')};
  std::string challenge;
  Socket last = challenged(hello, challenge);
  {
    Control one(1, 3);
    EXPECT_TRUE(one.join(invitation(key), after(30)).ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(20)); // rank 0 listens on
  }
  prove(last, hello, challenge, key);
  hosting.join();
  EXPECT_NE(hosted.message().find("rank 1 is gone before the first step"), std::string::npos)
      << hosted.message();
}

TEST_F(Start, SilentConnectionsLeaveWhenTheyAreTooMany) {
  std::vector<Socket> silent;
  for (int i = 0; i < 400; ++i)
    silent.push_back(knock());
  Control host(0, 2), one(1, 2);
  std::thread hosting([&] { EXPECT_TRUE(host.host(listener, key, after(60)).ok()); });
  EXPECT_TRUE(hangsUp(silent[0])); // the oldest
  EXPECT_TRUE(one.join(invitation(key), after(30)).ok());
  hosting.join();
}

/// Whoever listens at rank 0's place instead of it.
TEST_F(Start, WhoeverAnswersAsRank0HasToProveIt) {
  Verdict no{false, std::string(nonceBytes, 'j')}, yes{true, no.job};
  Hello nobody{1, 2, std::string(nonceBytes, 'x')};
  std::string wrongProof = verdictBytesOf({otherKey, "control", 0}, nobody, "", yes), list(8, '\xff');
  list[0] = '\xf8'; // a length of 2^64 - 8
  for (const std::string &answer :
       {std::string(), std::string(1, '\1'), wrongProof,
        verdictBytesOf({otherKey, "control", 0}, nobody, "", no),
        list + list + list + list + list + list + list + list + list + list + list + list + list}) {
    std::atomic<bool> finished{false};
    std::thread stranger([&] {
      std::vector<Socket> open;
      while (!finished) {
        Socket connection;
        bool full;
        if (!listener.accept(connection, full)) {
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
          continue;
        }
        std::string bytes = answer.empty() ? "" : std::string(nonceBytes, 'c') + answer;
        (void)sendAll(connection, bytes.data(), bytes.size(), after(1));
        if (!answer.empty())
          open.push_back(std::move(connection));
      }
    });
    Control guest(1, 2);
    par::io::Status status = guest.join(invitation(key), after(1));
    finished = true;
    stranger.join();
    EXPECT_NE(status.message().find("rank 1 could not reach rank 0 at rank 0: what answers there"),
              std::string::npos)
        << status.message();
  }
}

TEST_F(Start, ThePortIsOfTheAddressThatWasAskedFor) {
  Socket connection;
  EXPECT_TRUE(connectTo(place[0], after(10), connection).ok());
  std::vector<Address>
      neighbour; // another address of this machine: a listener on every interface answers there
  ASSERT_TRUE(resolve("127.0.0.2", listener.port(), neighbour).ok());
  EXPECT_FALSE(connectTo(neighbour[0], after(10), connection).ok());
  Listener everywhere, second;
  PostedSecret posted;
  std::string made;
  EXPECT_NE(openMeeting({"127.0.0.1", listener.port(), ""}, second, posted, made)
                .message()
                .find("cannot be listened on"),
            std::string::npos);
  EXPECT_NE(openMeeting({"192.0.2.1", 0, ""}, second, posted, made)
                .message()
                .find("it is no address of this machine"),
            std::string::npos);
  EXPECT_NE(
      openMeeting({"0.0.0.0", 0, ""}, second, posted, made).message().find("is every address and so none"),
      std::string::npos);
}

TEST_F(Start, AMessageThatNoProcessSendsEndsIt) {
  Control host(0, 2), guest(1, 2);
  std::thread hosting([&] { EXPECT_TRUE(host.host(listener, key, after(60)).ok()); });
  EXPECT_TRUE(guest.join(invitation(key), after(60)).ok());
  hosting.join();
  host.start(0.05, 60);
  std::string malformed(64, '\xff');
  EXPECT_TRUE(sendAll(guest.connection(), malformed.data(), malformed.size(), after(10)).ok());
  std::vector<std::string> all;
  EXPECT_NE(host.allGather("x", after(60), all)
                .message()
                .find("rank 1 is gone: it sent what no process of par sends"),
            std::string::npos);
}

TEST_F(Start, NobodyWaitsForEverForTheEnd) {
  Control host(0, 2), guest(1, 2);
  std::thread hosting([&] { EXPECT_TRUE(host.host(listener, key, after(60)).ok()); });
  EXPECT_TRUE(guest.join(invitation(key), after(60)).ok());
  hosting.join();
  host.start(0.05, 60);
  guest.start(0.05, 60);
  EXPECT_NE(host.finish(0.2, [] { return true; }).message().find("rank 1 did not finish in time"),
            std::string::npos);
  EXPECT_NE(guest.finish(0.2, [] { return true; }).message().find("rank 0 did not finish in time"),
            std::string::npos);
  EXPECT_NE(
      guest.finish(60, [] { return false; }).message().find("stopped by a signal while waiting for rank 0"),
      std::string::npos);
}

namespace {
/// A runtime folder of the test's own.
class Secrets : public testing::Test {
protected:
  void SetUp() override {
    const char *given = getenv("XDG_RUNTIME_DIR");
    before = given ? given : "";
    setenv("XDG_RUNTIME_DIR", folder.root().c_str(), 1);
    ASSERT_EQ(chmod(folder.root().c_str(), 0700), 0);
    ASSERT_TRUE(resolve("127.0.0.1", 29500, place).ok());
  }
  void TearDown() override {
    if (before.empty())
      unsetenv("XDG_RUNTIME_DIR");
    else
      setenv("XDG_RUNTIME_DIR", before.c_str(), 1);
  }
  TemporaryFolder folder;
  std::string before, key;
  std::vector<Address> place;
};
} // namespace

TEST_F(Secrets, PostedOnesAreOfThisUserAndOfOnePortAlone) {
  {
    PostedSecret posted;
    std::string read;
    ASSERT_TRUE(posted.post(place[0], key).ok());
    EXPECT_EQ(key.size(), 32u);
    ASSERT_EQ(folder.files().size(), 1u);
    struct stat info;
    ASSERT_EQ(stat((folder / "par-127.0.0.1-29500.secret").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u);
    EXPECT_TRUE(readPostedSecret(place[0], read).ok());
    EXPECT_EQ(read, key);
    place[0].setPort(29501);
    EXPECT_FALSE(readPostedSecret(place[0], read).ok());
    place[0].setPort(29500);
  }
  EXPECT_TRUE(folder.files().empty());
}

TEST_F(Secrets, OneThatAKilledRunLeftIsReplacedAndLinksAreNotFollowed) {
  std::string victim = folder / "victim", name = folder / "par-127.0.0.1-29500.secret", read;
  par::test::writeText(victim, "precious");
  std::filesystem::create_symlink(victim, name);
  EXPECT_FALSE(readPostedSecret(place[0], read).ok());
  PostedSecret posted;
  ASSERT_TRUE(posted.post(place[0], key).ok());
  EXPECT_EQ(par::test::readText(victim), "precious");
  EXPECT_TRUE(readPostedSecret(place[0], read).ok());
  EXPECT_EQ(read, key);
}

TEST_F(Secrets, AFolderThatOthersCanUseIsNotUsed) {
  std::string own = folder / "own", shared = folder / "shared";
  std::filesystem::create_directories(shared);
  std::filesystem::create_directories(own);
  ASSERT_EQ(chmod(shared.c_str(), 0777), 0);
  setenv("XDG_RUNTIME_DIR", shared.c_str(), 1);
  setenv("TMPDIR", own.c_str(), 1);
  {
    PostedSecret posted;
    ASSERT_TRUE(posted.post(place[0], key).ok());
    EXPECT_TRUE(std::filesystem::is_empty(shared));
    std::string user = own + "/par-" + std::to_string(geteuid());
    if (std::filesystem::exists(user)) { // else /run/user has this user's
      PostedSecret again;
      ASSERT_EQ(chmod(user.c_str(), 0755), 0);
      EXPECT_NE(again.post(place[0], key).message().find("is no folder that only this user can use"),
                std::string::npos);
      ASSERT_EQ(chmod(user.c_str(), 0700), 0);
    }
  }
  unsetenv("TMPDIR");
}

TEST_F(Secrets, FilesThatTheUserNames) {
  std::string file = folder / "secret", read;
  auto problem = [&] { return readSecretFile(file, read).message(); };
  EXPECT_NE(problem().find("PAR_SECRET_FILE: " + file + ": cannot be read"), std::string::npos) << problem();
  par::test::writeText(file, std::string(31, 's'));
  ASSERT_EQ(chmod(file.c_str(), 0600), 0);
  EXPECT_NE(problem().find("has 31 bytes, but a secret has 32 to 4096"), std::string::npos) << problem();
  par::test::writeText(file, std::string(32, 's'));
  EXPECT_EQ(problem(), "");
  EXPECT_EQ(read, std::string(32, 's'));
  for (int mode : {0640, 0604, 0660}) {
    ASSERT_EQ(chmod(file.c_str(), mode_t(mode)), 0);
    EXPECT_NE(problem().find("others may read or write it"), std::string::npos) << problem();
  }
  std::filesystem::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0); // nobody writes into it: reading must not wait
  EXPECT_NE(problem().find("is no regular file"), std::string::npos) << problem();
  std::filesystem::remove(file);
  std::filesystem::create_directories(file);
  EXPECT_NE(problem().find("is no regular file"), std::string::npos) << problem();
  if (geteuid() == 0) {
    std::filesystem::remove(file);
    par::test::writeText(file, std::string(32, 's'));
    ASSERT_EQ(chmod(file.c_str(), 0600) | chown(file.c_str(), 12345, 0), 0);
    EXPECT_NE(problem().find("belongs to user 12345"), std::string::npos) << problem();
  }
}
