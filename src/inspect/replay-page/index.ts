export { type Recording, type ReplayPageOptions, replayPageOf } from './replay-page-of.ts'
export { writeReplayPage } from './write-replay-page.ts'
