/* Numbers of the kernels of TinyCudaProgram.c. */
#ifndef TINY_CUDA_H
#define TINY_CUDA_H

enum { TINY_CUDA_ZERO, TINY_CUDA_FORWARD, TINY_CUDA_NORM, TINY_CUDA_ROOT, TINY_CUDA_UPDATE };

#endif
