#include "host/compiler/keywords.hpp"

namespace cuscope::simt {

const std::unordered_map<std::string_view, Word>& words() {
    static const std::unordered_map<std::string_view, Word> table{
        {"__device__", Word::dropped},
        {"__host__", Word::dropped},
        {"__constant__", Word::dropped},
        {"__grid_constant__", Word::dropped},
        {"__inline_hint__", Word::dropped},
        {"__global__", Word::kernel},
        {"__forceinline__", Word::force_inline},
        {"__noinline__", Word::no_inline},
        {"__launch_bounds__", Word::launch_bounds},
        {"__maxnreg__", Word::launch_bounds},
        {"__shared__", Word::shared},
        {"__managed__", Word::unsupported},
        {"__cluster_dims__", Word::launch_bounds},
        {"__block_size__", Word::unsupported},
        {"threadIdx", Word::built_in},
        {"blockIdx", Word::built_in},
        {"blockDim", Word::built_in},
        {"gridDim", Word::built_in},
        {"__syncthreads", Word::barrier},
        {"__syncthreads_count", Word::barrier},
        {"__syncthreads_and", Word::barrier},
        {"__syncthreads_or", Word::barrier},
        {"__barrier_sync", Word::barrier},
        {"__barrier_sync_count", Word::barrier},
        {"__syncwarp", Word::warp},
        {"__shfl_sync", Word::warp},
        {"__shfl_up_sync", Word::warp},
        {"__shfl_down_sync", Word::warp},
        {"__shfl_xor_sync", Word::warp},
        {"__ballot_sync", Word::warp},
        {"__any_sync", Word::warp},
        {"__all_sync", Word::warp},
        {"__uni_sync", Word::warp},
        {"__match_any_sync", Word::warp},
        {"__match_all_sync", Word::warp},
        {"__reduce_add_sync", Word::warp},
        {"__reduce_min_sync", Word::warp},
        {"__reduce_max_sync", Word::warp},
        {"__reduce_and_sync", Word::warp},
        {"__reduce_or_sync", Word::warp},
        {"__reduce_xor_sync", Word::warp},
        {"__activemask", Word::warp},
        {"asm", Word::inline_asm},
        {"__asm__", Word::inline_asm},
        {"__asm", Word::inline_asm},
        {"__threadfence", Word::fence},
        {"__threadfence_block", Word::fence},
        {"__threadfence_system", Word::fence},
        {"clock", Word::clock},
        {"clock64", Word::clock},
        {"__nanosleep", Word::clock},
        {"printf", Word::print},
        {"__ldcg", Word::uncached},
        {"__ldcv", Word::uncached},
        {"__cluster_barrier_arrive", Word::groups},
        {"__cluster_barrier_wait", Word::groups},
        {"__cluster_map_shared_rank", Word::groups},
        {"cuscope_uses_groups", Word::groups},
        {"cudaTriggerProgrammaticLaunchCompletion", Word::trigger},
        {"cudaGraphLaunch", Word::graph},
        {"malloc", Word::heap},
        {"free", Word::heap},
        {"cuscope_uses_atomics", Word::fence},
    };
    return table;
}

std::string_view built_in_function(std::string_view variable) {
    return variable == "threadIdx"  ? "thread_index"
           : variable == "blockIdx" ? "block_index"
           : variable == "blockDim" ? "block_dim"
                                    : "grid_dim";
}

bool is_statement_word(std::string_view word) {
    return word == "return" || word == "else" || word == "do" || word == "case" || word == "sizeof" ||
           word == "and" || word == "or" || word == "not" || word == "xor" || word == "new" ||
           word == "co_return" || word == "throw";
}

}  // namespace cuscope::simt
