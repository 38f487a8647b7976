#include "emulation/Shadow.h"

#include "par/emulation.h"

#include <algorithm>

namespace par::emulation {

/// Within a block by its barriers, within a warp by its own synchronisation; between blocks nothing does.
bool Shadow::isOrdered(const Moment &before, const Moment &now) {
  if (before.block != now.block)
    return false;
  return before.thread == now.thread || before.blockEpoch < now.blockEpoch ||
         (before.warp == now.warp && before.warpEpoch < now.warpEpoch);
}

Shadow::Granule &Shadow::at(uint64_t place) {
  uint64_t number = place >> pageBits;
  if (!lastPage || number != lastNumber) {
    std::unique_ptr<Page> &page = pages[number];
    if (!page)
      page = std::make_unique<Page>();
    lastPage = page.get();
    lastNumber = number;
  }
  return (*lastPage)[place & ((uint64_t(1) << pageBits) - 1)];
}

void Shadow::read(Byte &byte, const Moment &who, Meeting &meeting) {
  meeting.isUnwritten |= byte.writer.block < 0;
  meeting.isRace |= byte.writer.block >= 0 && !isOrdered(byte.writer, who);
  uint32_t latest = who.warpEpoch;
  if (byte.reader.block >= 0 && !isOrdered(byte.reader, who)) {
    bool isSameBlock = byte.reader.block == who.block,
         isSameWarp = isSameBlock && byte.reader.warp == who.warp;
    byte.hasSeveral = true;
    byte.hasOtherBlocks |= !isSameBlock;
    byte.hasOtherWarps |= !isSameWarp;
    if (isSameWarp)
      latest = std::max(latest, byte.reader.warpEpoch);
  } else if (byte.reader.blockEpoch < who.blockEpoch && !byte.hasOtherBlocks) {
    byte.hasSeveral = byte.hasOtherWarps = false; // a barrier lies between this one and all others
  }
  byte.reader = who;
  byte.reader.warpEpoch = latest;
}

/// Of several readers all were before the barriers, or synchronisations of their warp, that the last one was
/// before.
bool Shadow::areReadersOrdered(const Byte &byte, const Moment &now) {
  const Moment &last = byte.reader;
  if (!byte.hasSeveral)
    return isOrdered(last, now);
  if (byte.hasOtherBlocks || last.block != now.block)
    return false;
  bool isOfWarp = !byte.hasOtherWarps && last.warp == now.warp;
  return last.blockEpoch < now.blockEpoch || (isOfWarp && last.warpEpoch < now.warpEpoch);
}

void Shadow::write(Byte &byte, bool isAtomic, const Moment &who, Meeting &meeting) {
  bool areBothAtomic = isAtomic && byte.isAtomic;
  meeting.isRace |= !areBothAtomic && byte.writer.block >= 0 && !isOrdered(byte.writer, who);
  meeting.isRace |= byte.reader.block >= 0 && !areReadersOrdered(byte, who);
  byte.writer = who;
  byte.isAtomic = isAtomic;
  byte.reader.block = -1;
  byte.hasSeveral = byte.hasOtherBlocks = byte.hasOtherWarps = false;
}

void Shadow::touch(Byte &byte, int kind, const Moment &who, Meeting &meeting) {
  if (kind == par_emulation_load)
    read(byte, who, meeting);
  else
    write(byte, kind == par_emulation_atomic, who, meeting);
}

Meeting Shadow::touch(uint64_t address, uint32_t bytes, int kind, const Moment &who) {
  Meeting meeting;
  for (uint64_t next, end = address + bytes; address < end; address = next) {
    next = std::min(end, (address / granule + 1) * granule);
    Granule &one = at(address / granule);
    if (!one.each && next - address == granule) {
      touch(one.all, kind, who, meeting);
      continue;
    }
    if (!one.each) {
      one.each = std::make_unique<std::array<Byte, granule>>();
      one.each->fill(one.all);
    }
    for (uint64_t byte = address; byte < next; ++byte)
      touch((*one.each)[byte % granule], kind, who, meeting);
  }
  return meeting;
}

} // namespace par::emulation
