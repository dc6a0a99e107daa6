import { rules } from '../model/invariants.ts'
import type { Rule } from '../model/model.ts'
import { useStore, useView } from '../use-view.ts'
import { Icon } from './icons.tsx'

/** Conditions checked from the frames. A breach links to its moment. */
export function Invariants() {
  const store = useStore()
  const { run } = useView()
  if (run === undefined) return null
  return (
    <ul class="invariants" aria-label="Rules that must hold">
      {(Object.entries(rules) as [Rule, string][]).map(([rule, text]) => {
        const breach = run.breaches.find((each) => each.rule === rule)
        if (breach === undefined) {
          return (
            <li key={rule} class="holds" title={`${text}: holds`}>
              <Icon name="check" />
              <span>{text}</span>
            </li>
          )
        }
        return (
          <li key={rule} class="breached">
            <button type="button" title={breach.text} onClick={() => store.goTo(breach.seq)}>
              <Icon name="cross" />
              <span>{text}</span>
            </button>
          </li>
        )
      })}
    </ul>
  )
}
