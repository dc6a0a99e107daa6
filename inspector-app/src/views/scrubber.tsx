import { useEffect, useState } from 'preact/hooks'
import { isConversation } from '../model/conversation.ts'
import type { Model } from '../model/model.ts'
import type { State, Store } from '../store.ts'
import { useStore, useView } from '../use-view.ts'
import { duration } from '../words.ts'
import { Icon } from './icons.tsx'
import { togglePlay } from './keyboard.ts'
import { useNow } from './use-now.ts'

const speeds = [0.1, 0.25, 1, 4]

/** Selects the moment that every view shows. */
export function Scrubber() {
  const store = useStore()
  const { state, history, model, run } = useView()
  const [speed, setSpeed] = useState(1)
  usePlayback(store, speed)
  const now = useNow()
  const { length } = history
  const position = Math.max(history.start, state.position ?? length)
  const isFollowing = state.position === undefined
  // one time for all turns, whichever is shown
  const start = isConversation(history.model) ? history.origin : (run?.startedAt ?? 0)
  const by = (count: number) => (): void =>
    store.set({ position: Math.max(history.start, Math.min(length, position + count)), isPlaying: false })
  const isByTime = state.scale === 'time'
  const [least, most] = isByTime
    ? [history.startedAt, Math.max(history.startedAt + 1, history.model.at)]
    : [history.start, Math.max(history.start + 1, length)]
  const marks = length === 0 ? [] : marksOf(history.model)
  return (
    <section class="scrubber" aria-label="Time">
      <span class="buttons">
        <button type="button" aria-label="To the start" title="Home" disabled={length === 0} onClick={by(-length)}>
          <Icon name="start" />
        </button>
        <button
          type="button"
          aria-label="One frame back"
          title="←"
          disabled={position <= history.start}
          onClick={by(-1)}
        >
          <Icon name="back" />
        </button>
        <button
          type="button"
          class="play"
          aria-label={state.isPlaying ? 'Pause' : 'Play'}
          title="Space"
          disabled={length === 0}
          onClick={() => togglePlay(store)}
        >
          <Icon name={state.isPlaying ? 'pause' : 'play'} />
        </button>
        <button type="button" aria-label="One frame forward" title="→" disabled={position >= length} onClick={by(1)}>
          <Icon name="forward" />
        </button>
      </span>
      <span class="rail">
        <input
          type="range"
          aria-label="Moment"
          aria-valuetext={`frame ${position} of ${length}, ${duration(model.at - start)}`}
          min={least}
          max={most}
          step={isByTime ? 'any' : 1}
          value={isByTime ? Math.max(least, model.at) : position}
          onInput={({ currentTarget: { value } }) =>
            store.set({
              position: isByTime ? Math.max(history.start, history.positionAt(Number(value))) : Number(value),
              isPlaying: false,
            })
          }
        />
        {marks.map(({ seq, at, kind, title }) => (
          <i
            key={`${kind}${seq}`}
            class={`mark ${kind}`}
            title={title}
            style={{ left: `${(((isByTime ? at : history.positionOf(seq)) - least) / (most - least)) * 100}%` }}
          />
        ))}
      </span>
      <output class="clock">
        <b>{duration(Math.max(0, now - start))}</b>
        <span>
          {position.toLocaleString('en')} / {length.toLocaleString('en')}
        </span>
      </output>
      <select
        aria-label="Scale"
        title="Whether the scrubber is even in time or in frames"
        value={state.scale}
        onChange={({ currentTarget }) => store.set({ scale: currentTarget.value as State['scale'] })}
      >
        <option value="time">by time</option>
        <option value="frames">by frame</option>
      </select>
      <select aria-label="Speed" value={speed} onChange={({ currentTarget }) => setSpeed(Number(currentTarget.value))}>
        {speeds.map((each) => (
          <option key={each} value={each}>
            {each}×
          </option>
        ))}
      </select>
      <button
        type="button"
        class={isFollowing ? 'follow on' : 'follow'}
        aria-pressed={isFollowing}
        title="End"
        onClick={() => store.set({ position: undefined, isPlaying: false })}
      >
        {state.source === 'live' ? 'Live' : 'End'}
      </button>
    </section>
  )
}

/** Plays the recording at the chosen speed. */
function usePlayback(store: Store, speed: number): void {
  const { isPlaying } = store.state
  useEffect(() => {
    if (!isPlaying) return
    const { history } = store
    const timeAt = (position: number): number => history.at(Math.max(history.start, position - 1))?.at ?? 0
    let time = timeAt(store.state.position ?? 0)
    let before = performance.now()
    let handle = requestAnimationFrame(function advance(now) {
      time += (now - before) * speed
      before = now
      const position = history.positionAt(time)
      if (position >= history.length) return store.set({ position: undefined, isPlaying: false })
      if (position !== store.state.position) store.set({ position })
      handle = requestAnimationFrame(advance)
    })
    return () => cancelAnimationFrame(handle)
  }, [isPlaying, speed, store])
}

interface Mark {
  readonly seq: number
  readonly at: number
  readonly kind: 'stop' | 'breach'
  readonly title: string
}

/** More could not be told apart. */
const mostMarks = 200

/** The aborts and breaches of every turn, the newest if there are too many. */
function marksOf({ runs }: Model): Mark[] {
  const found: Mark[] = []
  for (const { aborts, breaches } of runs.values()) {
    for (const { seq, at, cause } of aborts) found.push({ seq, at, kind: 'stop', title: cause.kind })
    for (const { seq, at, text } of breaches) found.push({ seq, at, kind: 'breach', title: text })
  }
  return found.slice(-mostMarks)
}
