# Language level, warnings and sanitizers: the same for every target.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

set(SPILLWAY_SANITIZE "" CACHE STRING "Sanitizers for every target: address,undefined or thread")

find_program(SPILLWAY_CCACHE ccache)
if(SPILLWAY_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${SPILLWAY_CCACHE})
endif()

# Half a hundred test programs are linked in each preset; mold takes a tenth of the usual linker's time.
find_program(SPILLWAY_MOLD mold)
if(SPILLWAY_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Werror)
add_compile_options("$<$<CONFIG:RelWithDebInfo>:-O2;-g1>" "$<$<CONFIG:Debug>:-Og;-g1>")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports both inside libstdc++'s own std::string (GCC bug 105329 and its kin).
  add_compile_options(-Wno-restrict -Wno-stringop-overflow)
  if(CMAKE_UNITY_BUILD)
    # It takes a .cc that another one includes for a header, whose types must not use names of one file.
    add_compile_options(-Wno-subobject-linkage)
  endif()
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # libstdc++ 12 hides std::expected from clang 16, which reports an older concepts level than it has.
  add_compile_options(-D__cpp_concepts=202002L -Wno-builtin-macro-redefined -Wno-macro-redefined)
endif()

if(SPILLWAY_SANITIZE)
  add_compile_options(-fsanitize=${SPILLWAY_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SPILLWAY_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Instrumented code makes g++ 12 see phantom uninitialised reads.
    add_compile_options(-Wno-maybe-uninitialized -Wno-array-bounds)
    if(SPILLWAY_SANITIZE MATCHES "thread")
      # Boost.Asio's fences: the thread sanitizer does not follow them and g++ says so.
      add_compile_options(-Wno-tsan)
    endif()
  endif()
endif()
