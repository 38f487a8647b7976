// Who owns a folder of checkpoints: one run at a time, and the next at once when that one is dead.
#include "core/FolderLock.h"
#include "TinyPackage.h"
#include "TinyProgram.h"
#include "core/Error.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fcntl.h>
#include <optional>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace par;
using namespace par::rt;
using namespace par::test;

// ThreadSanitizer knows no processes that a process of several threads made.
#if defined(__has_feature) && __has_feature(thread_sanitizer)
#define PAR_SKIP_FORKS() GTEST_SKIP() << "forks of a process with threads"
#else
#define PAR_SKIP_FORKS() (void)0
#endif

namespace {

const FolderLock::Times quick{0.05, 0.5, 0.2};

std::string refusal(const std::string &folder) {
  try {
    FolderLock lock(folder, quick);
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

void expectPart(const std::string &text, const std::string &part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "\nexpected: " << part;
}

/// Runs `body` in a process of its own, which then waits for its end; the number of the process.
template <typename Body>
pid_t inProcess(Body body) {
  int ready[2];
  EXPECT_EQ(pipe(ready), 0);
  pid_t pid = fork();
  if (pid == 0) {
    auto kept = body();
    (void)!write(ready[1], "x", 1);
    while (true)
      pause();
  }
  char byte;
  close(ready[1]); // a child that dies is seen
  EXPECT_EQ(read(ready[0], &byte, 1), 1);
  close(ready[0]);
  return pid;
}

void killAndWait(pid_t pid) {
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

} // namespace

TEST(FolderLock, OneOwnerAtATime) {
  TemporaryFolder folder;
  std::string path = folder / "a/b";
  {
    FolderLock lock(path, quick);
    EXPECT_TRUE(std::filesystem::exists(path + "/run.lock"));
    expectPart(refusal(path), path + ": is in use by a run on ");
    expectPart(refusal(path),
               "(process " + std::to_string(getpid()) + "); wait for its end, or give another --checkpoint");
    lock.check();
  }
  EXPECT_EQ(folder.files(), std::vector<std::string>{}); // what it made, and nothing was put there
  std::filesystem::create_directories(path);
  { FolderLock again(path, quick); }
  EXPECT_TRUE(std::filesystem::is_empty(path));
}

TEST(FolderLock, ADeadOwnersFolderIsTakenOver) {
  PAR_SKIP_FORKS();
  TemporaryFolder folder;
  pid_t owner = inProcess([&] {
    auto lock = std::make_unique<FolderLock>(folder.root(), quick);
    std::string stranger(lock->run().size(), 'x');
    for (const std::string &name : {"step-00000004." + lock->run() + ".tmp", std::string("step-00000004.tmp"),
                                    "step-00000004." + stranger + ".tmp", "mine." + lock->run() + ".tmp"}) {
      std::filesystem::create_directories(folder / name);
      writeText(folder / name + "/x", "half");
    }
    return lock;
  });
  expectPart(refusal(folder.root()), "is in use");
  EXPECT_EQ(folder.files().size(), 5u);
  killAndWait(owner);
  FolderLock lock(folder.root(), quick);
  std::vector<std::string> files = folder.files(); // what the dead run began is gone, and only that
  EXPECT_EQ(files.size(), 4u);
  EXPECT_TRUE(std::filesystem::exists(folder / "step-00000004.tmp/x"));
  EXPECT_TRUE(std::filesystem::exists(folder / "run.lock"));
  lock.check();
}

/// A run may be killed before its file has got its name. Those of runs that wait, or have only begun, stay.
TEST(FolderLock, FilesThatNeverGotTheirNameAreRemoved) {
  TemporaryFolder folder;
  auto nameOf = [&](const std::string &run) { return folder / ("run.lock." + run + ".tmp"); };
  for (std::string run : {"0123456789abcdef", "fedcba9876543210"}) {
    RunIdentity identity = RunIdentity::own();
    identity.run = run;
    writeText(nameOf(run), identity.text());
  }
  writeText(nameOf("00000000000000aa"), "");
  int waiting = open(nameOf("fedcba9876543210").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(flock(waiting, LOCK_EX | LOCK_NB), 0);
  {
    FolderLock lock(folder.root(), quick);
    EXPECT_FALSE(std::filesystem::exists(nameOf("0123456789abcdef")));
    EXPECT_TRUE(std::filesystem::exists(nameOf("fedcba9876543210")));
    EXPECT_TRUE(std::filesystem::exists(nameOf("00000000000000aa")));
  }
  close(waiting);
}

TEST(FolderLock, AnOwnerOfAnotherMachineIsDeadWhenItIsStill) {
  TemporaryFolder folder;
  RunIdentity elsewhere = RunIdentity::own();
  elsewhere.machine = "another/pid:[1]", elsewhere.host = "node7", elsewhere.pid = 1;
  writeText(folder / "run.lock", elsewhere.text());
  std::atomic<bool> stop{false};
  std::thread beats([&] {
    while (!stop) {
      std::filesystem::last_write_time(folder / "run.lock", std::filesystem::file_time_type::clock::now());
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  expectPart(refusal(folder.root()), "is in use by a run on node7 (process 1)");
  stop = true;
  beats.join();
  FolderLock lock(folder.root(), quick);
  lock.check();
}

TEST(FolderLock, ProcessNumbersThatAreUsedAgain) {
  RunIdentity own = RunIdentity::own(), other = own;
  EXPECT_TRUE(own.isOnThisMachine() && own.isAlive());
  other.started -= 1;
  EXPECT_FALSE(other.isAlive());
  other = own, other.pid = 1 << 29;
  EXPECT_FALSE(other.isAlive());
  RunIdentity read;
  EXPECT_TRUE(RunIdentity::read(own.text(), read));
  EXPECT_EQ(read.text(), own.text());
  for (const std::string &text : {std::string(), own.text() + "x", std::string("par run x\n")})
    EXPECT_FALSE(RunIdentity::read(text, read)) << text;
}

TEST(FolderLock, AnothersFileIsNotTouched) {
  TemporaryFolder folder;
  writeText(folder / "run.lock", "precious");
  expectPart(refusal(folder.root()), "run.lock is no lock of par; remove it");
  std::filesystem::remove(folder / "run.lock");
  writeText(folder / "victim", "precious");
  std::filesystem::create_symlink(folder / "victim", folder / "run.lock");
  expectPart(refusal(folder.root()), "run.lock is no lock of par");
  EXPECT_EQ(readText(folder / "victim"), "precious");
  EXPECT_EQ(folder.files(), (std::vector<std::string>{"run.lock", "victim"}));
}

TEST(FolderLock, WhoLostItSavesNothing) {
  TemporaryFolder folder;
  std::optional<FolderLock> lock(std::in_place, folder.root(), quick);
  std::filesystem::remove(folder / "run.lock");
  writeText(folder / "run.lock", "another's");
  try {
    lock->check();
    ADD_FAILURE();
  } catch (const Error &error) {
    expectPart(error.what(), "was taken over by another run");
  }
  lock.reset();
  EXPECT_EQ(readText(folder / "run.lock"), "another's");
}

TEST(FolderLock, ManyAtOnceHaveOneWinner) {
  PAR_SKIP_FORKS();
  TemporaryFolder folder;
  killAndWait(inProcess([&] { return std::make_unique<FolderLock>(folder.root(), quick); }));
  std::vector<std::unique_ptr<FolderLock>> locks(4);
  std::vector<std::thread> threads;
  for (auto &lock : locks)
    threads.emplace_back([&] {
      try {
        lock = std::make_unique<FolderLock>(folder.root(), quick);
      } catch (const Error &) {
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(std::count_if(locks.begin(), locks.end(), [](const auto &lock) { return lock != nullptr; }), 1);
  EXPECT_EQ(folder.files(), std::vector<std::string>{"run.lock"});
}

namespace {
/// Two runs of a package.
class FolderOfRuns : public testing::Test {
protected:
  void SetUp() override { writePackage(folder / "a.par", tinyManifest(2, 2)); }
  std::string run(const std::string &rest) const {
    return PAR_RUN " " + (folder / "a.par") + " --lr 0.5 --checkpoint " + (folder / "c") + " " + rest;
  }
  TemporaryFolder folder;
};
} // namespace

TEST_F(FolderOfRuns, TheSecondIsRefusedAndTheFirstGoesOn) {
  RunResult result =
      runShell(run("--steps 100000000 --checkpoint-every 100 --keep 2 --metrics " + (folder / "m")) +
               " & until [ -s " + (folder / "m") + " ] || ! kill -0 $!; do sleep 0.1; done; " +
               run("--steps 5 --resume latest") + "; echo second $?; kill -TERM $!; wait $!; echo first $?");
  expectPart(result.output, "c: is in use by a run on ");
  expectPart(result.output, "second 1");
  expectPart(result.output, "go on with --resume ");
  EXPECT_FALSE(std::filesystem::exists(folder / "c/run.lock"));
}

TEST_F(FolderOfRuns, AKilledRunIsResumedAtOnce) {
  ASSERT_EQ(runShell(PAR_RUN " " + (folder / "a.par") + " --lr 0.5 --steps 5000 --save-params " +
                     (folder / "whole"))
                .exitCode,
            0);
  std::string job =
      run("--steps 5000 --checkpoint-every 50 --keep 2 --resume latest --save-params " + (folder / "x"));
  for (int i = 0; i < 3; ++i)
    runShell(job + " >/dev/null & sleep 0.3; kill -9 $!; wait $!");
  RunResult last = runShell(job);
  EXPECT_EQ(last.exitCode, 0) << last.output;
  EXPECT_LT(last.seconds, 60);
  EXPECT_EQ(readText(folder / "x"), readText(folder / "whole"));
  std::vector<std::string> left;
  for (const auto &entry : std::filesystem::directory_iterator(folder / "c"))
    left.push_back(entry.path().filename());
  std::sort(left.begin(), left.end());
  EXPECT_EQ(left, (std::vector<std::string>{"step-00004950", "step-00005000"}));
  for (const std::string &name : folder.files()) // of what was to be written in the end
    EXPECT_EQ(name.find(".tmp"), std::string::npos) << name;
}
