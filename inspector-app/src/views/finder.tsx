import { useEffect, useRef, useState } from 'preact/hooks'
import { type Found, findCalls, type Outcome, toolsIn, type Wanted } from '../model/find-calls.ts'
import { useStore, useView } from '../use-view.ts'
import { toneOf } from '../words.ts'
import { Dialog } from './dialog.tsx'

const outcomes: Readonly<Record<Outcome, string>> = {
  any: 'any outcome',
  ok: 'succeeded',
  error: 'failed',
  stopped: 'stopped',
  denied: 'denied',
  retried: 'retried',
  asked: 'asked about',
  unfinished: 'not finished',
}
const places = { everywhere: 'everywhere', main: 'main agent', agents: 'sub-agents' } as const
const shown = 60

/** Finds calls, texts and turns in every run: by text, tool, outcome and agent. */
export function Finder() {
  const store = useStore()
  const { model } = useView()
  const field = useRef<HTMLInputElement>(null)
  const [wanted, setWanted] = useState<Wanted>({ text: '', tool: '', outcome: 'any', where: 'everywhere' })
  const [at, setAt] = useState(0)
  useEffect(() => field.current?.focus(), [])
  const change = (part: Partial<Wanted>): void => {
    setWanted({ ...wanted, ...part })
    setAt(0)
  }
  const { found, count } = findCalls(model, wanted)
  const close = (): void => store.set({ dialog: undefined })
  const go = ({ run, call, isTurn, seq }: Found): void => {
    close()
    if (call !== undefined) store.choose(run.id, call.id)
    else if (isTurn) store.set({ run: run.id, selected: undefined })
    else store.goTo(seq, { run: run.id })
  }
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setAt(Math.min(at + 1, found.length - 1))
    else if (event.key === 'ArrowUp') setAt(Math.max(0, at - 1))
    else if (event.key === 'Enter' && found[at] !== undefined) go(found[at])
    else return
    event.preventDefault()
  }
  return (
    <Dialog label="Find" kind="finder">
      <div class="filters">
        <input
          ref={field}
          type="search"
          aria-label="Find a call, a text or a turn"
          placeholder="Find by name, id, input, result, text, or turn 12"
          value={wanted.text}
          onInput={({ currentTarget }) => change({ text: currentTarget.value })}
          onKeyDown={press}
        />
        <select
          aria-label="Tool"
          value={wanted.tool}
          onChange={({ currentTarget }) => change({ tool: currentTarget.value })}
        >
          <option value="">any tool</option>
          {toolsIn(model).map((tool) => (
            <option key={tool}>{tool}</option>
          ))}
        </select>
        <Choice label="Outcome" options={outcomes} value={wanted.outcome} onChoice={(outcome) => change({ outcome })} />
        <Choice label="Agent" options={places} value={wanted.where} onChoice={(where) => change({ where })} />
        <button type="button" class="link" onClick={close}>
          close
        </button>
      </div>
      <ol aria-label="Found">
        {found.slice(0, shown).map((each, index) => (
          <li key={`${each.run.id} ${each.isTurn ? 'turn' : each.seq}`}>
            <button type="button" class={index === at ? 'line chosen' : 'line'} onClick={() => go(each)}>
              <span class={each.call === undefined ? 'dot' : `dot ${toneOf(each.call)}`} />
              <span class="label">
                {each.call === undefined ? each.snippet : `#${each.call.index + 1} ${each.call.label}`}
                {each.call !== undefined && each.snippet !== '' && <span class="sum"> {each.snippet}</span>}
              </span>
              <span class="state">{each.isTurn ? '' : each.run.title}</span>
            </button>
          </li>
        ))}
      </ol>
      <p class="sum" role="status">
        {count === 0 ? 'Nothing found' : `${count.toLocaleString('en')} found`}
        {count > shown && `, the first ${shown} shown`}
      </p>
    </Dialog>
  )
}

interface ChoiceProps<Key extends string> {
  readonly label: string
  readonly options: Readonly<Record<Key, string>>
  readonly value: Key
  readonly onChoice: (key: Key) => void
}

function Choice<Key extends string>({ label, options, value, onChoice }: ChoiceProps<Key>) {
  return (
    <select aria-label={label} value={value} onChange={({ currentTarget }) => onChoice(currentTarget.value as Key)}>
      {(Object.entries(options) as [Key, string][]).map(([key, words]) => (
        <option key={key} value={key}>
          {words}
        </option>
      ))}
    </select>
  )
}
