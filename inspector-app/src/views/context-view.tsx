import type { applyPatch } from '../../../src/inspect/index.ts'
import { firstChart } from '../model/first-chart.ts'
import type { Actor, Cast } from '../model/model.ts'
import { isIn } from '../model/time-range.ts'
import { useStore, useView } from '../use-view.ts'
import { duration, inline } from '../words.ts'
import { ValueTree } from './value-tree.tsx'

/** The context of the charts, and what each step changed in it. */
export function ContextView() {
  const { state, model, run, call } = useView()
  const first = firstChart(state, model, run)
  if (run === undefined || first === undefined) return null
  const own = call === undefined ? undefined : run.actors.get(call.actor)
  return (
    <div class="contexts">
      <ActorContext title={first.title} cast={first.cast} actor={first.actor} />
      <ActorContext title={call === undefined ? 'Call' : `#${call.index + 1} ${call.label}`} cast={run} actor={own} />
    </div>
  )
}

function ActorContext({ title, cast, actor }: { title: string; cast: Cast; actor: Actor | undefined }) {
  const store = useStore()
  const { range } = useView().state
  if (actor === undefined) return null
  const changes = actor.changes.filter(({ at }) => isIn(range, at)).reverse()
  return (
    <section>
      <h3>{title}</h3>
      <ValueTree value={actor.context} />
      {range !== undefined && changes.length === 0 && <p class="empty">No changes in the selected time.</p>}
      <ol class="changes" aria-label="Changes">
        {changes.map(({ seq, at, patch, before }) => (
          <li key={seq}>
            <button type="button" class="link" title="Go to this moment" onClick={() => store.goTo(seq)}>
              {duration(at - cast.startedAt)}
            </button>
            <ul>
              {(patch.set ?? []).map(([path, value]) => (
                <li key={path.join()}>
                  <span class="key">{path.join('.')}</span>
                  <del>{inline(valueAt(before, path), 60)}</del>
                  <ins>{inline(value, 80) || '{}'}</ins>
                </li>
              ))}
              {(patch.drop ?? []).map((path) => (
                <li key={path.join()}>
                  <span class="key">{path.join('.')}</span>
                  <del>{inline(valueAt(before, path), 60)}</del>
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ol>
    </section>
  )
}

type Value = Parameters<typeof applyPatch>[0]

function valueAt(value: Value, path: readonly string[]): Value | undefined {
  let at: Value | undefined = value
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
    at = (at as { readonly [key: string]: Value })[key]
  }
  return at
}
