// SPDX-License-Identifier: Apache-2.0
// What is kept on disk between runs: hashes, damage of every kind, two processes at once, folders that take
// nothing.
#include "backends/gpu/rtc/disk_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "backends/gpu/rtc/compile.h"
#include "core/os/process.h"
#include "core/sha256.h"
#include "support/apart.h"

namespace beeswax::gpu::rtc {
namespace {

namespace fs = std::filesystem;

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}
Sha256Digest digest_of(std::string_view text) { return Sha256::of(std::as_bytes(std::span(text))); }

// The examples of FIPS 180-4's test vectors (NIST's "SHA256.pdf" and its long message).
TEST(Sha256, IsThatOfTheStandard) {
  EXPECT_EQ(hex(digest_of("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex(digest_of("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(digest_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex(digest_of(std::string(1000000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// In pieces of every size the same as at once, at every length around the size of a block.
TEST(Sha256, DoesNotDependOnPieces) {
  for (size_t size = 0; size < 200; ++size) {
    const std::string text(size, static_cast<char>('a' + size % 26));
    for (size_t piece = 1; piece <= 65; piece += 16) {
      Sha256 hash;
      for (size_t at = 0; at < size; at += piece)
        hash.add(std::as_bytes(std::span(text)).subspan(at, std::min(piece, size - at)));
      ASSERT_EQ(hash.finish(), digest_of(text)) << size << " in " << piece;
    }
  }
}

class Cache : public testing::Test {
 protected:
  os::TemporaryFolder folder_;
  DiskCache cache_{folder_.path() / "code"};
  const Sha256Digest key_ = digest_of("key");
  const std::vector<std::byte> value_ = bytes_of("a compiled kernel");

  std::vector<std::byte> entry() const { return os::read_file(cache_.file(key_)).value(); }
  void write_entry(std::span<const std::byte> bytes) const {
    ASSERT_TRUE(os::replace_file(cache_.file(key_), bytes));
  }
};

TEST_F(Cache, KeepsWhatItIsGiven) {
  EXPECT_FALSE(cache_.find(key_).has_value());
  cache_.keep(key_, value_);
  EXPECT_EQ(cache_.find(key_), value_);
  EXPECT_FALSE(cache_.find(digest_of("another")).has_value());
  cache_.keep(key_, {});
  EXPECT_EQ(cache_.find(key_), std::vector<std::byte>());
  cache_.keep(key_, value_);
  EXPECT_EQ(DiskCache(cache_.folder()).find(key_), value_);  // as the next process sees it
  EXPECT_EQ(fs::status(cache_.folder()).permissions() & fs::perms(077), fs::perms::none);
}

TEST_F(Cache, FindsEveryDamage) {
  cache_.keep(key_, value_);
  const std::vector<std::byte> good = entry();
  for (size_t size = 0; size < good.size(); ++size) {
    write_entry(std::span(good).first(size));
    EXPECT_FALSE(cache_.find(key_).has_value()) << "cut to " << size;
  }
  for (size_t i = 0; i < good.size(); ++i) {
    std::vector<std::byte> flipped = good;
    flipped[i] ^= std::byte{1};
    write_entry(flipped);
    EXPECT_FALSE(cache_.find(key_).has_value()) << "byte " << i;
  }
  std::vector<std::byte> longer = good;
  longer.push_back(std::byte{0});
  write_entry(longer);
  EXPECT_FALSE(cache_.find(key_).has_value());
  // A whole entry under another key's name is not that key's.
  const Sha256Digest other = digest_of("another");
  fs::create_directories(cache_.file(other).parent_path());
  ASSERT_TRUE(os::replace_file(cache_.file(other), good));
  EXPECT_FALSE(cache_.find(other).has_value());
  cache_.keep(key_, value_);
  EXPECT_EQ(cache_.find(key_), value_);
}

// Processes and threads that want the same key: one makes the value, the others find it.
TEST_F(Cache, IsMadeOnceByManyProcesses) {
  const fs::path made = folder_.path() / "made";
  const auto want = [&] {
    const os::FileLock lock = cache_.lock(key_);
    if (cache_.find(key_).has_value()) return;
    std::ofstream(made, std::ios::app) << "x";
    usleep(20000);  // long enough for the others to come
    cache_.keep(key_, value_);
  };
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      want();
      _exit(0);
    }
    children.push_back(child);
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(want);
  for (std::thread& thread : threads) thread.join();
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(fs::file_size(made), 1u);
  EXPECT_EQ(cache_.find(key_), value_);
}

// Readers see an entry whole or not at all while others write it again and again.
TEST_F(Cache, IsWrittenAtOnce) {
  const std::vector<std::byte> large(300000, std::byte{7});
  cache_.keep(key_, large);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    for (int i = 0; i < 50; ++i) cache_.keep(key_, large);
    _exit(0);
  }
  for (int i = 0; i < 50; ++i) ASSERT_EQ(cache_.find(key_), large) << i;
  int status = -1;
  waitpid(child, &status, 0);
  size_t files = 0;
  for (const auto& file : fs::recursive_directory_iterator(folder_.path()))
    files += file.is_regular_file() ? 1u : 0u;
  EXPECT_EQ(files, 1u);  // no half-written file is left
}

// What was used longest ago makes room; what others put there stays.
TEST_F(Cache, StaysBelowItsLimit) {
  const std::vector<std::byte> large(1000, std::byte{7});
  const DiskCache small(cache_.folder(), 3500);
  const auto last_use = [&](const char* name, int hours) {
    const fs::path path = small.file(digest_of(name));
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  for (const char* name : {"a", "b", "c"}) small.keep(digest_of(name), large);
  last_use("a", 3);
  last_use("b", 2);
  last_use("c", 1);
  const fs::path notes = small.file(digest_of("a")).parent_path() / "notes";
  std::ofstream(notes) << std::string(9000, 'x');
  EXPECT_TRUE(small.find(digest_of("a")).has_value());  // and is the last that was used
  small.keep(digest_of("d"), large);
  for (const char* name : {"a", "c", "d"}) EXPECT_TRUE(small.find(digest_of(name)).has_value()) << name;
  EXPECT_FALSE(small.find(digest_of("b")).has_value());
  EXPECT_TRUE(fs::exists(notes));
  // One that is larger than all may be is the only one.
  small.keep(digest_of("e"), std::vector<std::byte>(9000));
  EXPECT_TRUE(small.find(digest_of("e")).has_value());
  for (const char* name : {"a", "c", "d"}) EXPECT_FALSE(small.find(digest_of(name)).has_value()) << name;
}

TEST_F(Cache, RemovesWhatDeadWritersLeft) {
  cache_.keep(key_, value_);
  const std::string entry = cache_.file(key_).string();
  const fs::path left = entry + ".1.0", under_way = entry + ".2.0",
                 foreign = cache_.file(key_).parent_path() / "mine.1.0";
  for (const fs::path& path : {left, under_way, foreign}) std::ofstream(path) << "half";
  for (const fs::path& path : {left, foreign})
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(2));
  cache_.keep(digest_of("another"), value_);
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(under_way));
  EXPECT_TRUE(fs::exists(foreign));
  EXPECT_EQ(cache_.find(key_), value_);
}

// A compiler that counts; it makes the program's text.
class Counting final : public Compiler {
 public:
  std::string title() const override { return "counting"; }
  std::string identity() const override { return "counting 1"; }
  std::string refusal(std::string_view) const override { return ""; }
  std::vector<std::string> flags(std::string_view) const override { return {}; }
  std::vector<std::byte> compile(const Program& program, std::string_view) const override {
    ++count;
    return bytes_of(program.text);
  }
  mutable int count = 0;
};

// Files of the disk may change, and no key knows of it.
TEST_F(Cache, CodeThatMayReadFilesIsNotKept) {
  const NamedText mine{"mine.h", "#include <cstdint>\n#define ONE 1\n"};
  const std::vector<std::string> whole = {
      "void f() {}",
      "#include \"mine.h\"\n # \tinclude <kernels/gpu.h>\n",
      "%:include <cstddef>\n",
      "// include nothing\nint include = 1, import = 2;  /* embed */",
  };
  const std::vector<std::string> reads = {
      "#include \"other.h\"",
      "#include \"mine.h\"\n#include </tmp/other.h>",
      "#include \"mine.h",
      "#include HEADER",
      "# include_next <cstdint>",
      "%:include <other.h>",
      "#import <other.h>",
      "#embed \"data\"",
      "/* */ #include <other.h>",
      "#/* */include <other.h>",
      "#if __has_include(\"other.h\")\n#endif",
  };
  for (const bool kept : {true, false}) {
    for (const std::string& text : kept ? whole : reads) {
      const Counting compiler;
      const Program program{"p", text, {mine}, {}};
      EXPECT_EQ(is_whole(program), kept) << text;
      for (int i = 0; i < 3; ++i)
        EXPECT_EQ(code_of(program, "gfx1100", compiler, cache_).kept, kept && i > 0) << text;
      EXPECT_EQ(compiler.count, kept ? 1 : 3) << text;
    }
  }
  EXPECT_FALSE(is_whole({"p", "#include \"mine.h\"", {{"mine.h", "#include \"other.h\""}}, {}}));
}

// A file where the folder should be: nobody, not even root, can write there.
TEST_F(Cache, GoesToTheTemporaryFolderWhereItMust) {
  const fs::path blocked = folder_.path() / "file";
  std::ofstream(blocked) << "in the way";
  const char* before = std::getenv("TMPDIR");
  const std::string old = before == nullptr ? "" : before;
  setenv("TMPDIR", folder_.path().c_str(), 1);
  testing::internal::CaptureStderr();
  const DiskCache cache(blocked / "code");
  const std::string warning = testing::internal::GetCapturedStderr();
  EXPECT_NE(warning.find("cannot be kept in " + (blocked / "code").string()), std::string::npos) << warning;
  EXPECT_EQ(cache.folder().parent_path(), folder_.path());
  EXPECT_NE(warning.find("they go to " + cache.folder().string()), std::string::npos) << warning;
  cache.keep(key_, value_);
  EXPECT_EQ(cache.find(key_), value_);
  // A folder that others can write to is nobody's to trust; then nothing is kept, and all goes on.
  ASSERT_EQ(chmod(cache.folder().c_str(), 0777), 0);
  testing::internal::CaptureStderr();
  const DiskCache none(blocked / "code");
  EXPECT_NE(testing::internal::GetCapturedStderr().find("compiled anew in every process"), std::string::npos);
  none.keep(key_, value_);
  EXPECT_FALSE(none.find(key_).has_value());
  {
    const os::FileLock lock = none.lock(key_);
  }
  old.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", old.c_str(), 1);
}

TEST_F(Cache, SaysWhyAFolderIsRefused) {
  const fs::path folder = folder_.path() / "refused";
  const auto expect = [&](const std::string& why) {
    const std::string said = test::run_apart([&] {
      setenv("TMPDIR", folder_.path().c_str(), 1);
      testing::internal::CaptureStderr();
      EXPECT_NE(DiskCache(folder).folder(), folder);
      return testing::internal::GetCapturedStderr();
    });
    EXPECT_NE(said.find("cannot be kept in " + folder.string() + ": " + why), std::string::npos) << said;
  };
  std::ofstream(folder) << "in the way";
  expect("it is no folder");
  fs::remove(folder);
  fs::create_directory_symlink(cache_.folder(), folder);
  expect("it is a symbolic link; name the folder");
  fs::remove(folder);
  fs::create_directory(folder);
  ASSERT_EQ(chmod(folder.c_str(), 0770), 0);
  expect("others may write to it; take that from them with chmod go-w");
  ASSERT_EQ(chmod(folder.c_str(), 0700), 0);
  if (chown(folder.c_str(), 12345, 12345) != 0) GTEST_SKIP() << "only root gives folders away";
  expect("it belongs to user 12345, and this is user 0");
}

TEST(Process, GetsTheEnvironmentButForSome) {
  setenv("BW_KEPT", "1", 1);
  setenv("BW_KEPT_TOO", "2", 1);
  constexpr std::string_view kWithout[] = {"BW_KEPT", "BW_NOT_THERE"};
  const std::vector<std::string> command = {"sh", "-c", "echo $BW_KEPT,$BW_KEPT_TOO"};
  EXPECT_EQ(os::run_program(command)->output, "1,2\n");
  EXPECT_EQ(os::run_program(command, "", kWithout)->output, ",2\n");
}

TEST(Process, GivesStatusAndOutput) {
  const auto run = os::run_program({"sh", "-c", "echo out; echo err >&2; pwd; exit 3"}, "/");
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->status, 3);
  EXPECT_EQ(run->output, "out\nerr\n/\n");
  EXPECT_EQ(os::run_program({"sh", "-c", "kill -9 $$"})->status, 128 + 9);
  EXPECT_EQ(os::run_program({"cat"})->output, "");  // no input
  EXPECT_EQ(os::run_program({"sh", "-c", "yes | head -c 200000"})->output.size(), 200000u);
  EXPECT_FALSE(os::run_program({"no-such-program-here"}).has_value());
  EXPECT_FALSE(os::run_program({}).has_value());
}

}  // namespace
}  // namespace beeswax::gpu::rtc
