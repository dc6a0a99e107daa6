import { whyWaitingForWorker } from '../../../src/inspect/index.ts'
import { hasTag } from '../model/has-tag.ts'
import type { Call, Run } from '../model/model.ts'
import { askedWords, duration, inline, sourceWords } from '../words.ts'
import { InputChanges } from './input-changes.tsx'
import { RawJson } from './raw-json.tsx'
import { Result } from './result.tsx'
import { ShownInput } from './shown-input.tsx'
import { ValueTree } from './value-tree.tsx'

/** The evidence of a call: what decided, each attempt, its input before and after hooks, and what the model got. */
export function CallEvidence({ run, call }: { run: Run; call: Call }) {
  const { decision, asked, failures, results } = call
  const texts = results.filter(({ message }) => message === 'tool_result')
  const others = results.filter(({ message }) => message !== 'tool_result')
  return (
    <>
      <dl>
        <dt>Decision</dt>
        <dd>{decisionWords(run, call)}</dd>
        {asked !== undefined && decision !== undefined && decision.behavior !== 'ask' && (
          <>
            <dt>Asked</dt>
            <dd>
              {askedWords(asked.source)}
              {decision.at > asked.at && `, answered after ${duration(decision.at - asked.at)}`}
            </dd>
          </>
        )}
        {call.place !== undefined && (
          <>
            <dt>Place</dt>
            <dd>{placeWords(call, call.place)}</dd>
          </>
        )}
        {call.keys !== undefined && (
          <>
            <dt>Resources</dt>
            <dd>{keysWords(call.keys)}</dd>
          </>
        )}
        {failures.length > 0 && (
          <>
            <dt>Attempts</dt>
            <dd>
              <Attempts call={call} />
            </dd>
          </>
        )}
      </dl>
      <h4>Input</h4>
      {hasTag(call.input) ? <ValueTree value={call.input} /> : <ShownInput input={call.input} />}
      <InputChanges results={others} />
      {texts.map((result) => (
        <Result key={result.seq} result={result} />
      ))}
      {others.length > 0 && (
        <details class="others">
          <summary>
            {others.length === 1 ? 'one more message' : `${others.length} more messages`} (
            {[...new Set(others.map(({ message }) => message))].join(', ')})
          </summary>
          {others.map(({ seq, content }) => (
            <p key={seq}>{inline(content, 400)}</p>
          ))}
        </details>
      )}
      <RawJson run={run} call={call} />
    </>
  )
}

function keysWords({ reads, writes }: NonNullable<Call['keys']>): string {
  const parts = [...(reads.length > 0 ? [`reads ${reads.join(', ')}`] : []), ...writes.map((key) => `writes ${key}`)]
  return parts.length === 0 ? 'none' : parts.join(' · ')
}

function placeWords({ ending, stage }: Call, { place, worker, waiting, at }: NonNullable<Call['place']>): string {
  const since = `since ${duration(at)}`
  if (place === 'sent') {
    if (stage !== 'executing') return 'sent; no worker took it'
    return `sent at ${duration(at)}, ${whyWaitingForWorker({ waiting })}`
  }
  if (place === 'lost') return stage === 'executing' ? `${worker} was lost at ${duration(at)}` : `lost on ${worker}`
  if (ending?.by === 'unknown') return `lost on ${worker}`
  return stage === 'executing' ? `runs on ${worker} ${since}` : `ran on ${worker}`
}

function decisionWords({ questions }: Run, { id, decision, stage, ending, segments }: Call): string {
  const question = questions.find(({ call }) => call === id)
  if (decision?.behavior === 'allow') return `allowed ${sourceWords(decision.source)}`
  if (decision?.behavior === 'deny') return `denied ${sourceWords(decision.source)}`
  const because = decision?.source ?? question?.because
  if (because !== undefined) return `asks, ${askedWords(because)}`
  if (question !== undefined) return 'asks'
  if (ending?.by === 'answer') return 'none: it was answered without running'
  // with rules that allow everything, nothing has to decide
  if (segments.some(({ path }) => path[1] === 'calling')) return 'allowed: no question was necessary'
  const isOver = stage === 'completed' || stage === 'yielded'
  return isOver ? 'none: it ended before one was necessary' : 'not decided yet'
}

function Attempts({ call }: { call: Call }) {
  const hasSucceeded = call.failures.at(-1)?.backoffMs !== null && call.completedAt !== undefined
  return (
    <ol class="attempts">
      {call.failures.map(({ seq, attempt, error, backoffMs }) => (
        <li key={seq}>
          {attempt}. <span class="chip error">failed</span> <code>{inline(error, 200)}</code>
          {backoffMs !== null && `, again after ${duration(backoffMs)}`}
        </li>
      ))}
      {hasSucceeded && (
        <li>
          {call.failures.length + 1}. <span class="chip ok">ok</span>
        </li>
      )}
    </ol>
  )
}
