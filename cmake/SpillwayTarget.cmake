include(GoogleTest)

# Everything labelled unit or sim: what the sanitizers run.
add_custom_target(spillway_quick_tests)

# spillway_library(NAME SOURCES … DEPS … PRIVATE_DEPS … TESTS … TEST_DEPS …)
#   One folder, one target `spillway_NAME`. DEPS are other folders that its headers name; PRIVATE_DEPS are third-party
#   targets and folders that only its .cc files name. TESTS become one executable, discovered under the label `unit`.
function(spillway_library NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;PRIVATE_DEPS;TESTS;TEST_DEPS" ${ARGN})
  set(target spillway_${NAME})
  set(deps ${ARG_DEPS})
  list(TRANSFORM deps PREPEND spillway_)
  if(ARG_SOURCES)
    add_library(${target} STATIC ${ARG_SOURCES})
    target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(${target} PUBLIC ${deps} PRIVATE ${ARG_PRIVATE_DEPS})
  else()
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(${target} INTERFACE ${deps})
  endif()
  if(ARG_TESTS)
    spillway_test(${NAME}_test LABEL unit SOURCES ${ARG_TESTS} DEPS ${target} ${ARG_TEST_DEPS})
  endif()
endfunction()

# spillway_test(NAME LABEL unit|sim|integration|fault SOURCES … DEPS … [TIMEOUT seconds] [SERIAL] [WHOLE] [LONG])
#   SERIAL: the tests start services of their own and run one at a time.
#   WHOLE: all tests in one process, as one entry of ctest, because they share services; TIMEOUT is for all of them.
#   LONG: labelled `unit-long` and so on, run by `./dev test --all` only.
#   Nothing is done where SPILLWAY_TESTS is off; what else names NAME then belongs inside if(SPILLWAY_TESTS).
function(spillway_test NAME)
  if(NOT SPILLWAY_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "SERIAL;WHOLE;LONG" "LABEL;TIMEOUT" "SOURCES;DEPS" ${ARGN})
  add_executable(${NAME} ${ARG_SOURCES})
  target_link_libraries(${NAME} PRIVATE ${ARG_DEPS} GTest::gtest_main GTest::gmock rapidcheck)
  # Optimised is what is tested, not the test: half of the compiler's time for it.
  target_compile_options(${NAME} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O0>)
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  if(ARG_LABEL MATCHES "^(unit|sim)$")
    add_dependencies(spillway_quick_tests ${NAME})
  endif()
  # One word: gtest_discover_tests of cmake 3.25 takes a list of labels apart.
  if(ARG_LONG)
    string(APPEND ARG_LABEL "-long")
  endif()
  set(properties LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT})
  if(ARG_SERIAL)
    list(APPEND properties RUN_SERIAL TRUE)
  endif()
  if(ARG_WHOLE)
    add_test(NAME ${NAME} COMMAND ${NAME})
    set_tests_properties(${NAME} PROPERTIES ${properties})
  else()
    gtest_discover_tests(${NAME} DISCOVERY_MODE PRE_TEST NO_PRETTY_VALUES PROPERTIES ${properties})
  endif()
endfunction()
