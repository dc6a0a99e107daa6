import fc from 'fast-check'

const { SIGNALBOX_FULL, SIGNALBOX_SEED } = process.env

// `npm test` is deterministic; `npm run test:full` uses new cases each time
if (SIGNALBOX_SEED !== undefined) fc.configureGlobal({ seed: Number(SIGNALBOX_SEED) })
else if (SIGNALBOX_FULL === undefined) fc.configureGlobal({ seed: 1 })
