/** A name of its own for each run, in the environment of all that it starts. */
export const runMarker = 'SIGNALBOX_RUN'
