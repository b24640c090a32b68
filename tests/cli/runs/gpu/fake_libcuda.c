/* Stands for libcuda.so.1 where questions are asked and contexts made current: one device, unless
   CUDA_VISIBLE_DEVICES hides it. FAKE_CUDA_COUNT: how many devices; FAKE_CUDA_MAJOR: the compute capability
   of all but the first; FAKE_CUDA_DRIVER: the version of CUDA it is of; FAKE_CUDA_INIT: what cuInit answers. */
#include <stdlib.h>
#include <string.h>

static int number(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

int cuInit(unsigned flags)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (visible && strcmp(visible, "0"))
        return 100;
    return flags ? 1 : number("FAKE_CUDA_INIT", 0);
}

static int devices(void) { return number("FAKE_CUDA_COUNT", 1); }
static int missing(int device) { return device < 0 || device >= devices() ? 101 : 0; }

int cuDeviceGetCount(int *count) { return *count = devices(), 0; }
int cuDeviceGet(int *device, int ordinal) { return *device = ordinal, missing(ordinal); }
int cuDriverGetVersion(int *version) { return *version = number("FAKE_CUDA_DRIVER", 13000), 0; }

int cuDeviceGetName(char *name, int room, int device)
{
    strncpy(name, "Fake GPU", (size_t)room);
    return missing(device);
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    const int major = device ? number("FAKE_CUDA_MAJOR", 9) : 9;
    *value = attribute == 75 ? major : attribute == 76 ? 0 : attribute == 38 ? 1 << 20 : -1;
    return missing(device);
}

int cuGetErrorString(int error, const char **text)
{
    *text = error == 100 ? "no CUDA-capable device is detected" : "unknown error";
    return 0;
}

/* Contexts are the primary ones, at these addresses; each thread has a stack of them. */
static char contexts[8];
static int retained[8];
static _Thread_local void *stack[16];
static _Thread_local int depth;

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    if (missing(device))
        return 101;
    retained[device]++;
    return *context = &contexts[device], 0;
}

int cuCtxGetCurrent(void **context) { return *context = depth ? stack[depth - 1] : NULL, 0; }

int cuCtxPushCurrent_v2(void *context)
{
    const long device = (char *)context - contexts;
    if (device < 0 || device >= devices() || !retained[device] || depth == 16)
        return 201;
    return stack[depth++] = context, 0;
}

int cuCtxPopCurrent_v2(void **context) { return depth ? (*context = stack[--depth], 0) : 201; }

/* For tests: the device that is current, -1 for none; and how many contexts are stacked. */
int fake_current(void) { return depth ? (int)((char *)stack[depth - 1] - contexts) : -1; }
int fake_depth(void) { return depth; }

/* Memory lies where a test says that it does (CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL). */
static unsigned long long first[8], last[8];

void fake_lies(int device, unsigned long long address, unsigned long long bytes)
{
    first[device] = address;
    last[device] = address + bytes;
}

int cuPointerGetAttribute(void *data, int attribute, unsigned long long address)
{
    if (attribute != 9)
        return 1;
    for (int device = 0; device < devices(); device++)
        if (first[device] <= address && address < last[device])
            return *(int *)data = device, 0;
    return 1;
}
