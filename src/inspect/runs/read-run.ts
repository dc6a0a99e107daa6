import { SignalboxError } from '../../base/signalbox-error.ts'
import { frameProblem } from '../frames/check-frame.ts'
import { type Frame, frameVersion } from '../frames/frame.ts'
import { numberAround } from '../run-model/run-around.ts'
import { SeenRun } from './seen-run.ts'

/** The runs of a recording by number. A second `run` frame resets its run. */
export class SeenRuns {
  readonly byNumber = new Map<number, SeenRun>()

  see(frame: Frame): void {
    if (frame.type === 'head') assertVersion(frame.version)
    if (frame.type === 'run') this.byNumber.set(frame.run, new SeenRun(frame, numberAround(this.byNumber, frame)))
    else this.byNumber.get(frame.run)?.see(frame)
    // lost frames of the whole stream may belong to any run
    if (frame.type === 'gap' && frame.run === 0) for (const run of this.byNumber.values()) run.see(frame)
  }

  /** The run with this number, or the first that has calls. Throws if the run cannot be used. */
  get(number?: number): SeenRun {
    const run = number === undefined ? this.#first() : this.byNumber.get(number)
    if (run === undefined) fail(number === undefined ? 'it contains no run' : `it contains no run ${number}`)
    if (run.lacks === 'start')
      fail('the run was already being stopped when the recorder attached, so its start is unknown')
    if (run.lacks === 'frames') fail('frames are missing, so the run is incomplete')
    return run
  }

  #first(): SeenRun | undefined {
    const runs = [...this.byNumber.values()]
    return runs.find(({ calls }) => calls.length > 0) ?? runs[0]
  }
}

/** All runs of a recording. */
export function readRuns(frames: Iterable<Frame>): SeenRuns {
  const runs = new SeenRuns()
  for (const frame of frames) {
    const problem = frameProblem(frame)
    if (problem !== undefined) fail(`one of its frames is ${problem}`)
    runs.see(frame)
  }
  return runs
}

/** One run of a recording. */
export const readRun = (frames: Iterable<Frame>, number?: number): SeenRun => readRuns(frames).get(number)

function assertVersion(version: number): void {
  if (version !== frameVersion) fail(`expected version ${frameVersion}, received version ${version}`)
}

function fail(problem: string): never {
  throw new SignalboxError('invalid_recording', `This recording cannot be used: ${problem}.`)
}
