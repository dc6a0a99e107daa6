/** A note on the parts of a run that a simulation leaves out. */
export const NotSimulated = () => (
  <p>
    Budgets and shared locks are not simulated. Waiting for them takes as long as recorded, and no limit of tokens,
    cost, turns or time stops the simulated run.
  </p>
)
