#include "runtime/compile/host_headers.hpp"

#include "runtime/compile/thrust_headers.hpp"

namespace cuscope {
namespace {

// The types of handles, and the headers that the libraries' own headers include.
constexpr const char* handles = R"(#pragma once
#if __has_include(<cuda_fp16.h>)
#include "cuda_fp16.h"
#include "cuda_bf16.h"
#include "cuComplex.h"
typedef float cufftReal;
typedef double cufftDoubleReal;
typedef cuComplex cufftComplex;
typedef cuDoubleComplex cufftDoubleComplex;
#endif
typedef struct cublasContext* cublasHandle_t;
typedef struct cublasLtContext* cublasLtHandle_t;
typedef int cublasStatus_t;
typedef int cublasOperation_t;
typedef int cublasComputeType_t;
typedef int cufftHandle;
typedef int cufftResult;
typedef struct cusparseContext* cusparseHandle_t;
typedef int cusparseStatus_t;
typedef struct cusolverDnContext* cusolverDnHandle_t;
typedef struct cusolverSpContext* cusolverSpHandle_t;
typedef int cusolverStatus_t;
typedef struct cudnnContext* cudnnHandle_t;
typedef struct cudnnTensorStruct* cudnnTensorDescriptor_t;
typedef int cudnnStatus_t;
typedef struct ncclComm* ncclComm_t;
typedef int ncclResult_t;
)";

constexpr const char* empty = "#pragma once\n";

// The types that headers of OpenGL extensions in a user's project need.
constexpr const char* opengl = R"(#pragma once
typedef unsigned int GLenum, GLuint, GLbitfield;
typedef unsigned char GLboolean, GLubyte;
typedef signed char GLbyte;
typedef unsigned short GLushort;
typedef short GLshort;
typedef int GLint, GLsizei;
typedef float GLfloat, GLclampf;
typedef double GLdouble, GLclampd;
typedef void GLvoid;
)";

}  // namespace

const HeaderTexts& host_library_headers() {
    static const auto* const headers = [] {
        auto* const made = new HeaderTexts;
        for (const char* name :
             {"cublas.h",     "cublas_v2.h",      "cublas_api.h", "cublasLt.h",   "cublasXt.h",
              "cufft.h",      "cufftXt.h",        "cufftw.h",     "cusparse.h",   "cusparse_v2.h",
              "cusolverDn.h", "cusolverSp.h",     "cusolverRf.h", "cusolverMg.h", "cusolver_common.h",
              "cudnn.h",      "cudnn_frontend.h", "nccl.h",       "cusparseLt.h", "cutensor.h"})
            made->emplace_back(name, handles);
        for (const char* name : {"cuda_profiler_api.h",
                                 "cudaProfiler.h",
                                 "nvToolsExt.h",
                                 "nvToolsExtCuda.h",
                                 "nvToolsExtCudaRt.h",
                                 "nvtx3/nvToolsExt.h",
                                 "nvtx3/nvtx3.hpp",
                                 "nvtx3/nvToolsExtCudaRt.h",
                                 "nvml.h",
                                 "nvrtc.h",
                                 "nvJitLink.h",
                                 "cuda_gl_interop.h",
                                 "cudaGL.h",
                                 "cuda_egl_interop.h",
                                 "cudaEGL.h",
                                 "cuda_vdpau_interop.h",
                                 "cuda_d3d11_interop.h",
                                 "npp.h",
                                 "nppi.h",
                                 "nvjpeg.h",
                                 "cufile.h",
                                 "cuda_occupancy.h",
                                 "cudaTypedefs.h",
                                 "cudart_platform.h",
                                 "cupti.h"})
            made->emplace_back(name, empty);
        made->insert(made->end(), thrust_headers().begin(), thrust_headers().end());
        return made;
    }();
    return *headers;
}

const HeaderTexts& missing_host_headers() {
    static const auto* const headers = [] {
        auto* const made = new HeaderTexts;
        for (const char* name : {"helper_cuda.h",
                                 "helper_functions.h",
                                 "helper_timer.h",
                                 "helper_string.h",
                                 "helper_image.h",
                                 "helper_gl.h",
                                 "helper_cusolver.h",
                                 "helper_cuda_drvapi.h",
                                 "helper_cuda_gl.h",
                                 "helper_multiprocess.h",
                                 "nvrtc_helper.h",
                                 "rendercheck_gl.h",

                                 "omp.h",
                                 "mpi.h",
                                 "mkl.h",
                                 "cblas.h",
                                 "GL/glew.h",
                                 "GL/glu.h",
                                 "GL/glut.h",
                                 "GL/freeglut.h",
                                 "GL/freeglut_ext.h",
                                 "GL/glext.h",
                                 "GL/glx.h",
                                 "GL/wglew.h",
                                 "GLFW/glfw3.h",
                                 "windows.h",
                                 "Windows.h"})
            made->emplace_back(name, empty);
        made->emplace_back("GL/gl.h", opengl);
        return made;
    }();
    return *headers;
}

}  // namespace cuscope
