//! What a schedule claims of full tiles: the code for them runs whole rows, or none, and needs no bounds checks.

use super::LegalityError;
use super::relations::Relations;

/// For every piece that makes a claim: of its instances where the claim's constraints hold, none lies outside the
/// statement's domain if the piece runs there, and none inside if it does not.
pub fn implied(relations: &mut Relations) -> Result<(), LegalityError> {
    for index in 0..relations.pieces.len() {
        let Some(cases) = relations.wrong_in_full_tiles(index)? else { continue };
        let statement = relations.pieces[index].statement;
        let runs = relations.schedule.pieces[index].full.as_ref().is_some_and(|full| full.runs);
        for wrong in cases {
            if !relations.shows_empty(&wrong)?
                && let Some(sample) = wrong.to_set()?.sample()?
            {
                let instance = relations.instance_at(&sample, 0, statement);
                let problem = relations.problem(&sample);
                return Err(LegalityError::NotFull { instance, runs, problem });
            }
        }
    }
    Ok(())
}
