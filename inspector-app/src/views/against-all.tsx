import type {
  ComparedConversations,
  ComparedTurn,
  OneTurn,
  TurnDifference,
  TurnSum,
} from '../../../src/inspect/index.ts'
import { plainText } from '../plain-text.ts'
import { useStore } from '../use-view.ts'
import { duration, replyWords } from '../words.ts'
import { whats } from './against-row.tsx'

/** More rows would take the page too long to render. */
const mostTurns = 300

/** All turns of two recordings side by side; the first difference is marked. */
export function AgainstAll({ all, name }: { all: ComparedConversations; name: string }) {
  const store = useStore()
  const { turns, first, differences, a, b } = all
  const parting = turns[first]
  return (
    <div class="against-all">
      <p class="sum" role="status">
        <b>
          {differences === 0
            ? `All ${turns.length} turns are the same.`
            : `${differences} of ${turns.length} turns differ.`}
        </b>
      </p>
      {parting?.difference !== undefined && (
        <p class="first-difference">
          First difference: {plainText(parting.a?.title ?? parting.b?.title ?? '')}
          {parting.difference.call !== undefined && `, ${parting.difference.call}`}:{' '}
          <DifferenceWords {...parting.difference} />{' '}
          {parting.a !== undefined && (
            <button type="button" class="link" onClick={() => show(parting)}>
              show it
            </button>
          )}
        </p>
      )}
      <table class="turn-times">
        <thead>
          <tr>
            <th scope="col">Turn</th>
            <th scope="col">calls</th>
            <th scope="col">failed</th>
            <th scope="col">time</th>
            <th scope="col">used</th>
            <th scope="col">difference</th>
          </tr>
        </thead>
        <tbody>
          {turns.slice(0, mostTurns).map((turn, at) => (
            <tr key={`${turn.a?.run} ${turn.b?.run}`} class={at === first ? 'first' : ''}>
              <th scope="row" style={{ paddingLeft: `${4 + turn.depth * 16}px` }}>
                {turn.a === undefined ? (
                  plainText(turn.b?.title ?? '')
                ) : (
                  <button type="button" class="link" onClick={() => show(turn)}>
                    {plainText(turn.a.title)}
                  </button>
                )}
              </th>
              <Cells a={turn.a} b={turn.b} />
              <td class="difference">
                {turn.difference === undefined ? 'same' : <DifferenceWords {...turn.difference} />}
              </td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          {turns.length > mostTurns && (
            <tr>
              <td colSpan={6}>and {turns.length - mostTurns} more turns</td>
            </tr>
          )}
          <tr>
            <th scope="row">All</th>
            <Cells a={a} b={b} />
            <td class="difference" />
          </tr>
        </tfoot>
      </table>
      <p class="what">
        The upper value is this recording, the lower one {name}. Times, tokens and cost do not count as differences.
      </p>
    </div>
  )

  function show({ a: here, calls }: ComparedTurn): void {
    const call = calls.find(({ difference }) => difference !== undefined)?.a?.id
    if (here !== undefined) store.set({ run: here.run, selected: call })
  }
}

function DifferenceWords({ what, a, b }: TurnDifference) {
  const words = what === 'turn' ? 'only in one recording' : what === 'text' ? 'different text' : whats[what]
  return (
    <>
      <b>{words}</b> {what !== 'turn' && <span class="ways">{`${a} | ${b}`}</span>}
    </>
  )
}

function Cells({ a, b }: { a: TurnSum | OneTurn | undefined; b: TurnSum | OneTurn | undefined }) {
  const cells: readonly ((sum: TurnSum) => string)[] = [
    ({ calls }) => calls.toLocaleString('en'),
    ({ failed }) => failed.toLocaleString('en'),
    ({ ms }) => duration(ms),
    ({ tokens, costUsd }) => replyWords({ calls: 0, tokens, cached: 0, costUsd }) || '–',
  ]
  return (
    <>
      {cells.map((words, at) => {
        const [here, there] = [a, b].map((sum) => (sum === undefined ? '–' : words(sum)))
        return (
          <td key={at} class={here === there ? 'pair' : 'pair other'}>
            <span>{here}</span>
            <span>{there}</span>
          </td>
        )
      })}
    </>
  )
}
