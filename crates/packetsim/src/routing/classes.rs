//! Division of virtual lanes into classes.

use super::SwitchView;

/// Any lane of a class of several: all lanes that there are, shared out as evenly as they can be, the first class first. Where
/// a proof says that packets wait for higher classes only, it holds for classes of any number of lanes.
#[inline]
pub(super) fn any_lane(here: &mut SwitchView<'_>, class: u8, classes: u8) -> u8 {
    let begin = |class: u8| u32::from(here.lanes) * u32::from(class) / u32::from(classes);
    let (first, behind) = (begin(class), begin(class + 1));
    here.alike = Some((first as u8, behind as u8));
    let more = if behind - first > 1 { here.random.below(behind - first) } else { 0 };
    (first + more) as u8
}
