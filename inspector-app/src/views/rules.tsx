import { recordingInvariants, turnInvariants } from '../../../src/testing/invariants.ts'
import { checksOf, type FoundBreach } from '../model/checked-history.ts'
import { isIn } from '../model/time-range.ts'
import { useStore, useView } from '../use-view.ts'
import { Icon } from './icons.tsx'

const names = recordingInvariants.map(({ name }) => name)
const liveOnly = turnInvariants.filter(({ isLiveOnly }) => isLiveOnly === true).map(({ name }) => name)

/** A sentence for each rule. */
const wants: Record<string, string> = {
  'one result per call': 'each call gets exactly one result; no results after a discard',
  'emission order': 'results are handed over in the order of the calls',
  exclusivity: 'an unsafe call runs alone, and at most maxConcurrency calls run',
  'no overtaking': 'no call overtakes a waiting unsafe call',
  'the gate says who runs': 'the gate is open, shared or exclusive, to match the running calls',
  'no start after an abort': 'a call that was told to stop does not start',
  'progress before result': 'no progress arrives after the result of its call',
  'nothing left behind': 'no body, timer or listener when the turn is over',
  'transcript valid': 'the reply with its results is valid for the API',
  'deny means never run': 'a denied call never runs',
  'no call waits without a reason': 'every call that may start has started',
  'explanations are true': 'the reason shown for a waiting call is the true one',
  'an abort reaches all': 'an abort reaches every call it applies to',
  'an interrupt stops only calls that allow it': 'an interrupt does not stop calls with block behaviour',
  'the strongest reason wins': 'of several abort reasons, each call gets the strongest',
}

/** The invariants of a turn, up to the moment shown. A breach links to its frame. */
export function Rules() {
  const { state, history, run } = useView()
  const checks = checksOf(history)
  if (run === undefined) return null
  const position = state.position ?? history.length
  const found = checks.breaches(run.id)
  const own = [...found.keys()].filter((name) => !names.includes(name))
  const isBroken = (name: string): boolean => {
    const breach = found.get(name)
    if (breach === undefined) return false
    const at = history.positionOf(breach.seq)
    return at <= position && isIn(state.range, history.at(at - 1)?.at ?? 0)
  }
  const all = [...own, ...names]
  const broken = all.filter(isBroken)
  return (
    <div class="rules">
      <p class="sum" role="status">
        <b>
          {broken.length === 0 ? `All ${all.length} rules hold` : `${broken.length} of ${all.length} rules do not hold`}
        </b>
        {position < history.length && ' up to this moment'}
        {state.range !== undefined && ' in the selected time'}
        {checks.position < Math.min(position, history.length) &&
          `, as far as checked: ${checks.position} of ${history.length} frames`}
      </p>
      {run.isLate && <p class="what">The recorder attached late: earlier events are assumed to be correct.</p>}
      <ul>
        {[...broken, ...all.filter((name) => !broken.includes(name))].map((name) => (
          <Rule key={name} name={name} breach={found.get(name)} isBroken={isBroken(name)} />
        ))}
      </ul>
      <p class="what">Checked only in a live watch: {liveOnly.join(', ')}.</p>
    </div>
  )
}

interface RuleProps {
  readonly name: string
  readonly breach: FoundBreach | undefined
  readonly isBroken: boolean
}

function Rule({ name, breach, isBroken }: RuleProps) {
  const store = useStore()
  return (
    <li class={isBroken ? 'breached' : 'holds'}>
      <Icon name={isBroken ? 'cross' : 'check'} />
      <span class="name">{name}</span>
      <span class="wants">{wants[name] ?? 'your own rule'}</span>
      {breach !== undefined && (
        <button type="button" class="link" title="Go to this moment" onClick={() => store.goTo(breach.seq)}>
          {isBroken ? 'frame' : 'later: frame'} {breach.seq}
        </button>
      )}
      {isBroken && <span class="problem-text">{breach?.problem}</span>}
    </li>
  )
}
