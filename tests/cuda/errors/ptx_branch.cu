// error 4 inline PTX `{ .reg .pred p; LOOP: setp.ne.s32 p, %0, 0; @p bra LOOP; }`
__global__ void k(float* a) {
    int wait = *a;
    asm volatile("{ .reg .pred p; LOOP: setp.ne.s32 p, %0, 0; @p bra LOOP; }" ::"r"(wait));
}
