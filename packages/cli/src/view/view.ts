/** Shows a session while it runs. */
export interface View {
  /** The session changed. Cheap: drawing happens later. */
  changed(): void
  /** Draws the final state and releases the terminal. */
  end(): void
}
