/// Who touched which byte in a launch: accesses of two threads that nothing orders are a race.
#ifndef PAR_EMULATION_SHADOW_H
#define PAR_EMULATION_SHADOW_H

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace par::emulation {

/// A thread at the moment of an access, and what it has waited for.
struct Moment {
  int64_t block;
  uint32_t thread; ///< of the block
  uint32_t warp;
  uint32_t blockEpoch; ///< barriers that the block has passed
  uint32_t warpEpoch;  ///< synchronisations that the thread has had with its warp
};

/// What an access meets.
struct Meeting {
  bool isRace = false;
  bool isUnwritten = false; ///< a read of what nobody wrote in this launch
};

class Shadow {
public:
  Meeting touch(uint64_t address, uint32_t bytes, int kind, const Moment &who);
  /// Nobody has touched anything.
  void clear() {
    pages.clear();
    lastPage = nullptr;
  }

private:
  struct Byte {
    Moment writer{-1, 0, 0, 0, 0}, reader{-1, 0, 0, 0, 0};
    bool isAtomic = false;   ///< the last write
    bool hasSeveral = false; ///< readers since the last write; `reader` is the last, of its warp the latest
    bool hasOtherBlocks = false; ///< among them
    bool hasOtherWarps = false;  ///< among them
  };
  /// Bytes that whole accesses alone have touched have one story.
  static constexpr uint64_t granule = 16;
  struct Granule {
    Byte all;
    std::unique_ptr<std::array<Byte, granule>> each; ///< null: `all`
  };
  static constexpr unsigned pageBits = 6; ///< of numbers of granules
  using Page = std::array<Granule, size_t(1) << pageBits>;

  Granule &at(uint64_t number);
  static void touch(Byte &byte, int kind, const Moment &who, Meeting &meeting);
  static void read(Byte &byte, const Moment &who, Meeting &meeting);
  static void write(Byte &byte, bool isAtomic, const Moment &who, Meeting &meeting);
  static bool isOrdered(const Moment &before, const Moment &now);
  static bool areReadersOrdered(const Byte &byte, const Moment &now);

  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages;
  uint64_t lastNumber = 0;
  Page *lastPage = nullptr;
};

} // namespace par::emulation

#endif
