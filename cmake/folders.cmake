# ascend_grad_compile_by_folder(<target>): half of the time goes into reading headers, so what a folder has of a target's
# sources is compiled as one. Names in their anonymous namespaces must differ. By themselves stay aclnn_*.cpp, which all
# define `Op`, and what refers to the kernels of the CPU: a program that links the rest must not get these.
function(ascend_grad_compile_by_folder target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${ASCEND_GRAD_COMPILE_BY_FOLDER} UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources EXCLUDE REGEX "/(aclnn_[^/]*|run|run_panels)[.]cpp$")
  foreach(source IN LISTS sources)
    get_filename_component(folder ${source} DIRECTORY)
    get_filename_component(folder ${folder} NAME)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder})
  endforeach()
endfunction()
