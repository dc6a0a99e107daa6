/** Something that shows a session while it goes on. */
export interface View {
  /** The session changed. Cheap: it is drawn when there is time. */
  changed(): void
  /** Shows the last of it, and lets go of the terminal. */
  end(): void
}
