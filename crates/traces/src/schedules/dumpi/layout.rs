//! The arguments of each MPI function, in the order in which records hold them.
//!
//! A function is `name:layout`, in the order of their numbers in `funclabels.h` of DUMPI. In a layout, `i` is a number
//! of 32 bits, `h` of 16, `b` of 8, `l` of 64; `A` and `H` are lists of `i` and `h` and `B` of `b` after their length
//! (`i`); `M` is a list of `A`; `C` is text after its length (`i`), `D` a list and `E` a list of lists of these; `S` is
//! a list of statuses. Arguments in parentheses are only in records of the root. `!` cannot be read.

/// The functions by their numbers.
const FUNCTIONS: &str = "\
    Send:ihiih Recv:ihiihS Get_count:Shi Bsend:ihiih Ssend:ihiih Rsend:ihiih Buffer_attach:i Buffer_detach:i \
    Isend:ihiihi Ibsend:ihiihi Issend:ihiihi Irsend:ihiihi Irecv:ihiihi Wait:iS Test:iiS Request_free:i Waitany:iAiS \
    Testany:iAiiS Waitall:iAS Testall:iAiS Waitsome:iAiAS Testsome:iAiAS Iprobe:iihiS Probe:iihS Cancel:i \
    Test_cancelled:Si Send_init:ihiihi Bsend_init:ihiihi Ssend_init:ihiihi Rsend_init:ihiihi Recv_init:ihiihi \
    Start:i Startall:iA Sendrecv:ihiiihiihS Sendrecv_replace:ihiiiihS Type_contiguous:ihh Type_vector:iiihh \
    Type_hvector:iiihh Type_indexed:iAAhh Type_hindexed:iAAhh Type_struct:iAAHh Address:i Type_extent:hi \
    Type_size:hi Type_lb:hi Type_ub:hi Type_commit:h Type_free:h Get_elements:Shi Pack:ihiiih Unpack:iiiihh \
    Pack_size:ihhi Barrier:h Bcast:ihih Gather:iihih(ih) Gatherv:iiihih(AA)h Scatter:iihih(ih) Scatterv:iihihih(AA) \
    Allgather:ihihh Allgatherv:iihAAhh Alltoall:ihihh Alltoallv:iAAhAAhh Reduce:ihbih Op_create:ib Op_free:b \
    Allreduce:ihbh Reduce_scatter:iAhbh Scan:ihbh Group_size:hi Group_rank:hi Group_translate_ranks:hiAhA \
    Group_compare:hhb Comm_group:hh Group_union:hhh Group_intersection:hhh Group_difference:hhh Group_incl:hiAh \
    Group_excl:hiAh Group_range_incl:hiMh Group_range_excl:hiMh Group_free:h Comm_size:hi Comm_rank:hi \
    Comm_compare:hhb Comm_dup:hh Comm_create:hhh Comm_split:hiih Comm_free:h Comm_test_inter:hi Comm_remote_size:hi \
    Comm_remote_group:hh Intercomm_create:hihiih Intercomm_merge:hih Keyval_create:h Keyval_free:h Attr_put:hi \
    Attr_get:hii Attr_delete:hi Topo_test:hb Cart_create:hiAAih Dims_create:iiAA Graph_create:ihiAAih \
    Graphdims_get:hii Graph_get:iihiiAA Cartdim_get:hi Cart_get:ihiAAAi Cart_rank:ihAi Cart_coords:ihiiA \
    Graph_neighbors_count:hii Graph_neighbors:ihiiA Cart_shift:hiiii Cart_sub:ihAh Cart_map:hiAAi Graph_map:ihiAAi \
    Get_processor_name:Ci Get_version:ii Errhandler_create:h Errhandler_set:hh Errhandler_get:hh Errhandler_free:h \
    Error_string:iCi Error_class:ii Wtime: Wtick: Init:D Finalize: Initialized:i Abort:hi Pcontrol:! Close_port:C \
    Comm_accept:Chihh Comm_connect:Chihh Comm_disconnect:h Comm_get_parent:h Comm_join:ih Comm_spawn:! \
    Comm_spawn_multiple:! Lookup_name:ChC Open_port:hC Publish_name:ChC Unpublish_name:ChC Accumulate:ihiiihbh \
    Get:ihiiihh Put:ihiiihh Win_complete:h Win_create:iihhh Win_fence:bh Win_free:h Win_get_group:hh Win_lock:bibh \
    Win_post:hbh Win_start:hbh Win_test:hi Win_unlock:ih Win_wait:h Alltoallw:iAAHAAHh Exscan:ihbh Add_error_class:i \
    Add_error_code:ii Add_error_string:iC Comm_call_errhandler:hi Comm_create_keyval:h Comm_delete_attr:hh \
    Comm_free_keyval:h Comm_get_attr:hhi Comm_get_name:hCi Comm_set_attr:hh Comm_set_name:hC File_call_errhandler:hi \
    Grequest_complete:i Grequest_start:i Init_thread:Dbb Is_thread_main:i Query_thread:b Status_set_cancelled:Si \
    Status_set_elements:Shi Type_create_keyval:h Type_delete_attr:hh Type_dup:hh Type_free_keyval:h \
    Type_get_attr:hhi Type_get_contents:iiihiiiAAH Type_get_envelope:hiiib Type_get_name:hCi Type_set_attr:hh \
    Type_set_name:hC Type_match_size:bih Win_call_errhandler:hi Win_create_keyval:h Win_delete_attr:hh \
    Win_free_keyval:h Win_get_attr:hhi Win_get_name:hCi Win_set_attr:hh Win_set_name:hC Alloc_mem:ih \
    Comm_create_errhandler:h Comm_get_errhandler:hh Comm_set_errhandler:hh File_create_errhandler:h \
    File_get_errhandler:hh File_set_errhandler:hh Finalized:i Free_mem: Get_address:i Info_create:h Info_delete:hC \
    Info_dup:hh Info_free:h Info_get:hCiCi Info_get_nkeys:hi Info_get_nthkey:hiC Info_get_valuelen:hCii Info_set:hCC \
    Pack_external:Cihiii Pack_external_size:Cihi Request_get_status:iiS Type_create_darray:iiiABAAbhh \
    Type_create_hindexed:iAAhh Type_create_hvector:iiihh Type_create_indexed_block:iiAhh Type_create_resized:hiih \
    Type_create_struct:iAAHh Type_create_subarray:iAAAbhh Type_get_extent:hii Type_get_true_extent:hii \
    Unpack_external:Ciiiih Win_create_errhandler:h Win_get_errhandler:hh Win_set_errhandler:hh File_open:hCbhh \
    File_close:h File_delete:Ch File_set_size:hl File_preallocate:hl File_get_size:hl File_get_group:hh \
    File_get_amode:hb File_set_info:hh File_get_info:hh File_set_view:hlhhCh File_get_view:hlhhC File_read_at:hlihS \
    File_read_at_all:hlihS File_write_at:hlihS File_write_at_all:hlihS File_iread_at:hlihi File_iwrite_at:hlihi \
    File_read:hihS File_read_all:hihS File_write:hihS File_write_all:hihS File_iread:hihi File_iwrite:hihi \
    File_seek:hlb File_get_position:hl File_get_byte_offset:hll File_read_shared:hihS File_write_shared:hihS \
    File_iread_shared:hihi File_iwrite_shared:hihi File_read_ordered:hihS File_write_ordered:hihS \
    File_seek_shared:hlb File_get_position_shared:hl File_read_at_all_begin:hlih File_read_at_all_end:hS \
    File_write_at_all_begin:hlih File_write_at_all_end:hS File_read_all_begin:hih File_read_all_end:hS \
    File_write_all_begin:hih File_write_all_end:hS File_read_ordered_begin:hih File_read_ordered_end:hS \
    File_write_ordered_begin:hih File_write_ordered_end:hS File_get_type_extent:hhi Register_datarep:C \
    File_set_atomicity:hi File_get_atomicity:hi File_sync:h IO_Test:iiS IO_Wait:iS IO_Testall:iAiS IO_Waitall:iAS \
    IO_Testany:iAiiS IO_Waitany:iAiS IO_Waitsome:iAiAS IO_Testsome:iAiAS \
";

/// Marks the beginning and the end of functions of the program, that is no call of MPI.
pub(super) const MARKS: std::ops::RangeInclusive<u16> = 291..=292;

/// A function: its name without `MPI_`, its layout, and the names of its first arguments.
#[derive(Clone, Copy)]
pub(super) struct Function {
    pub(super) name: &'static str,
    pub(super) layout: &'static str,
    pub(super) arguments: &'static str,
}

/// All functions by their numbers.
pub(super) fn functions() -> Vec<Function> {
    let split = FUNCTIONS.split_whitespace().filter_map(|f| f.split_once(':'));
    split.map(|(name, layout)| Function { name, layout, arguments: arguments(name) }).collect()
}

/// Names of arguments, of functions that matter. They are those that dumpi2ascii prints.
fn arguments(name: &str) -> &'static str {
    match name {
        "Send" | "Bsend" | "Ssend" | "Rsend" => "count datatype dest tag comm",
        "Recv" => "count datatype source tag comm status",
        "Isend" | "Ibsend" | "Issend" | "Irsend" | "Send_init" | "Bsend_init" | "Ssend_init"
        | "Rsend_init" => "count datatype dest tag comm request",
        "Irecv" | "Recv_init" => "count datatype source tag comm request",
        "Wait" => "request status",
        "Test" => "request flag status",
        "Waitany" => "count requests index status",
        "Testany" => "count requests index flag status",
        "Waitall" => "count requests statuses",
        "Testall" => "count requests flag statuses",
        "Waitsome" | "Testsome" => "count requests outcount indices statuses",
        "Start" | "Request_free" => "request",
        "Startall" => "count requests",
        "Sendrecv" => {
            "sendcount sendtype dest sendtag recvcount recvtype source recvtag comm status"
        }
        "Sendrecv_replace" => "count datatype dest sendtag source recvtag comm status",
        "Barrier" => "comm",
        "Bcast" => "count datatype root comm",
        "Gather" => "commrank sendcount sendtype root comm recvcount recvtype",
        "Gatherv" => "commrank commsize sendcount sendtype root comm",
        "Scatter" => "commrank recvcount recvtype root comm sendcount sendtype",
        "Scatterv" => "commrank commsize sendtype recvcount recvtype root comm sendcounts displs",
        "Allgather" | "Alltoall" => "sendcount sendtype recvcount recvtype comm",
        "Allgatherv" => "commsize sendcount sendtype recvcounts displs recvtype comm",
        "Alltoallv" => {
            "commsize sendcounts senddispls sendtype recvcounts recvdispls recvtype comm"
        }
        "Alltoallw" => {
            "commsize sendcounts senddispls sendtypes recvcounts recvdispls recvtypes comm"
        }
        "Reduce" => "count datatype op root comm",
        "Allreduce" | "Scan" | "Exscan" => "count datatype op comm",
        "Reduce_scatter" => "commsize recvcounts datatype op comm",
        "Comm_size" => "comm size",
        "Comm_rank" => "comm rank",
        "Comm_group" => "comm group",
        "Group_incl" => "group count ranks newgroup",
        "Comm_dup" => "oldcomm newcomm",
        "Comm_create" => "oldcomm group newcomm",
        "Comm_split" => "oldcomm color key newcomm",
        "Cart_create" => "oldcomm ndim dims periods reorder newcomm",
        "Graph_create" => "oldcomm nodes index edges reorder newcomm",
        "Cart_sub" => "oldcomm ndim remain newcomm",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_their_numbers() {
        let all = functions();
        assert_eq!(all.len() as u16, MARKS.start() - 1);
        for (number, name) in
            [(0, "Send"), (12, "Irecv"), (61, "Alltoallv"), (86, "Comm_split"), (124, "Init")]
        {
            assert_eq!(all[number].name, name);
        }
        for f in all {
            let fields = f.layout.chars().filter(|c| !"()!".contains(*c)).count();
            assert!(f.arguments.split(' ').count() <= fields.max(1), "{}", f.name);
        }
    }
}
