// What a thread reads of itself: the special registers of PTX.
#include "emulation/Launch.h"

using namespace par::emulation;

extern "C" {
uint32_t par_emulate_read_tid_x() { return launch->current->index.x; }
uint32_t par_emulate_read_tid_y() { return launch->current->index.y; }
uint32_t par_emulate_read_tid_z() { return launch->current->index.z; }
uint32_t par_emulate_read_ntid_x() { return launch->block.x; }
uint32_t par_emulate_read_ntid_y() { return launch->block.y; }
uint32_t par_emulate_read_ntid_z() { return launch->block.z; }
uint32_t par_emulate_read_ctaid_x() { return launch->blockIndex.x; }
uint32_t par_emulate_read_ctaid_y() { return launch->blockIndex.y; }
uint32_t par_emulate_read_ctaid_z() { return launch->blockIndex.z; }
uint32_t par_emulate_read_nctaid_x() { return launch->grid.x; }
uint32_t par_emulate_read_nctaid_y() { return launch->grid.y; }
uint32_t par_emulate_read_nctaid_z() { return launch->grid.z; }
uint32_t par_emulate_read_laneid() { return launch->current->lane(); }
uint32_t par_emulate_read_warpsize() { return warpSize; }
}
