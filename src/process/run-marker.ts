/** An environment variable with a unique id per run, inherited by everything that the run starts. */
export const runMarker = 'SIGNALBOX_RUN'
