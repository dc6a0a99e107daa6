import { SignalboxError } from '../../errors/signalbox-error.ts'
import { frameProblem } from '../check-frame.ts'
import { type Frame, frameVersion } from '../frame.ts'
import { SeenRun } from './seen-run.ts'

/** The runs of a recording by their numbers. A run that comes into view again begins anew. */
export class SeenRuns {
  readonly byNumber = new Map<number, SeenRun>()

  see(frame: Frame): void {
    if (frame.type === 'head') assertVersion(frame.version)
    if (frame.type === 'run') this.byNumber.set(frame.run, new SeenRun(frame))
    else this.byNumber.get(frame.run)?.see(frame)
    // what was lost somewhere may have been anybody's
    if (frame.type === 'gap' && frame.run === 0) for (const run of this.byNumber.values()) run.see(frame)
  }

  /** The one of this number, else the first that has calls. What cannot be told of is refused with a sentence. */
  get(number?: number): SeenRun {
    const run = number === undefined ? this.#first() : this.byNumber.get(number)
    if (run === undefined) fail(`there is no run ${number ?? ''}`.trim())
    if (run.lacks === 'start')
      fail('the run was being stopped when the recorder came, and what was before is not known')
    if (run.lacks === 'frames') fail('frames are missing, so what happened is not known')
    return run
  }

  #first(): SeenRun | undefined {
    const runs = [...this.byNumber.values()]
    return runs.find(({ calls }) => calls.length > 0) ?? runs[0]
  }
}

/** One run of a recording. */
export function readRun(frames: Iterable<Frame>, number?: number): SeenRun {
  const runs = new SeenRuns()
  for (const frame of frames) {
    const problem = frameProblem(frame)
    if (problem !== undefined) fail(`one of its frames is ${problem}`)
    runs.see(frame)
  }
  return runs.get(number)
}

function assertVersion(version: number): void {
  if (version !== frameVersion) fail(`it has version ${version}, and this is made for version ${frameVersion}`)
}

function fail(problem: string): never {
  throw new SignalboxError('invalid_recording', `This recording cannot be used: ${problem}.`)
}
