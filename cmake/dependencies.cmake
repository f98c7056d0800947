# The system's libraries: SQLite writes the database, jansson reads the metadata files, zlib is SQLite's (static link).
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
if(NPUPROF_STATIC)
  # pkg-config then also names what the libraries themselves need, and only archives (.a) are looked for.
  set(PKG_CONFIG_ARGN --static)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
endif()
pkg_check_modules(SQLITE3 REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
