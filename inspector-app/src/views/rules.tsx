import { recordingInvariants, turnInvariants } from '../../../src/testing/invariants.ts'
import { checksOf, type FoundBreach } from '../model/checked-history.ts'
import { useStore, useView } from '../use-view.ts'
import { Icon } from './icons.tsx'

const names = recordingInvariants.map(({ name }) => name)
const liveOnly = turnInvariants.filter(({ isLiveOnly }) => isLiveOnly === true).map(({ name }) => name)

/** Each rule in a sentence, for whoever does not know it by its name. */
const wants: Record<string, string> = {
  'one result per call': 'each call has exactly one result; after a discard none',
  'emission order': 'results leave in the order in which the model asked',
  exclusivity: 'an unsafe call runs alone, and no more run than may',
  'no overtaking': 'nothing overtakes an unsafe call that waits',
  'the gate says who runs': 'it is open, shared or exclusive, as it should be',
  'no start after an abort': 'what was told to stop does not begin',
  'progress before result': 'no progress comes after its result',
  'nothing left behind': 'no body, timer or listener when the turn is over',
  'transcript valid': 'the API takes the reply with its results',
  'deny means never run': 'what was denied never runs',
  'nobody waits for nothing': 'who may start has started',
  'explanations are true': 'why a call is said to wait is why it waits',
  'an abort reaches all': 'everybody whom it is meant for',
  'an interrupt spares the others': 'those that do not stop at one finish',
  'the strongest reason wins': 'of several reasons to stop, each call is given that one',
}

/** What must hold of every turn, each rule by its name, up to the moment that is shown. A breach leads to its frame. */
export function Rules() {
  const { state, history, run } = useView()
  const checks = checksOf(history)
  if (run === undefined) return null
  const position = state.position ?? history.length
  const found = checks.breaches(run.id)
  const own = [...found.keys()].filter((name) => !names.includes(name))
  const isBroken = (name: string): boolean => {
    const breach = found.get(name)
    return breach !== undefined && history.positionOf(breach.seq) <= position
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
        {checks.position < Math.min(position, history.length) &&
          `, as far as checked: ${checks.position} of ${history.length} frames`}
      </p>
      {run.isLate && <p class="what">The recorder came late: what was before is taken to have been right.</p>}
      <ul>
        {[...broken, ...all.filter((name) => !broken.includes(name))].map((name) => (
          <Rule key={name} name={name} breach={found.get(name)} isBroken={isBroken(name)} />
        ))}
      </ul>
      <p class="what">Only a live watch can tell: {liveOnly.join(', ')}.</p>
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
      <span class="wants">{wants[name] ?? 'a rule of your own'}</span>
      {breach !== undefined && (
        <button
          type="button"
          class="link"
          title="Go to this moment"
          onClick={() => store.set({ position: store.history.positionOf(breach.seq), isPlaying: false })}
        >
          {isBroken ? 'frame' : 'later: frame'} {breach.seq}
        </button>
      )}
      {isBroken && <span class="problem-text">{breach?.problem}</span>}
    </li>
  )
}
