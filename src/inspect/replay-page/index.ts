export { type Recording, type ReplayPageOptions, replayPageOf, writeReplayPage } from './write-replay-page.ts'
