# Imported targets: tilewright::adaptive (shared), tilewright::adaptive_static.
# This file lies in PREFIX/lib/cmake/tilewright-adaptive.
get_filename_component(_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(_shared "${_prefix}/lib/libtilewright_adaptive${CMAKE_SHARED_LIBRARY_SUFFIX}")

if(NOT TARGET tilewright::adaptive AND EXISTS "${_shared}")
    add_library(tilewright::adaptive SHARED IMPORTED)
    set_target_properties(tilewright::adaptive PROPERTIES
        IMPORTED_LOCATION "${_shared}"
        IMPORTED_NO_SONAME TRUE
        INTERFACE_INCLUDE_DIRECTORIES "${_prefix}/include")
endif()

if(NOT TARGET tilewright::adaptive_static)
    find_package(Threads REQUIRED)
    add_library(tilewright::adaptive_static STATIC IMPORTED)
    set_target_properties(tilewright::adaptive_static PROPERTIES
        IMPORTED_LOCATION "${_prefix}/lib/libtilewright_adaptive.a"
        INTERFACE_INCLUDE_DIRECTORIES "${_prefix}/include"
        INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};m")
endif()
