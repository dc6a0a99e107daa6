import {
  type ChartDefinition,
  chartConfig,
  type OneOrMore,
  type StateConfig,
  type StateValue,
  type TransitionConfig,
} from 'signalbox/inspect'
import { createMachine, State } from 'xstate'

/** A chart as XState 4 knows it, with what its inspector asks for again and again written out once. */
export interface DrawnMachine {
  /** The configuration: a fifth of what a machine says of itself, and a receiver makes the same machine of it. */
  readonly definition: object
  /** What XState 4 says of a state, but for the context and the event. */
  state(value: StateValue): object
}

const known = new WeakMap<ChartDefinition, DrawnMachine>()

export function machineOfChart(chart: ChartDefinition): DrawnMachine {
  const found = known.get(chart) ?? draw(chart)
  known.set(chart, found)
  return found
}

function draw(chart: ChartDefinition): DrawnMachine {
  const definition = { predictableActionArguments: true, ...inXState4(chartConfig(chart)), id: chart.id }
  const machine = createMachine(definition)
  // as many as the chart has ways to be in its states
  const states = new Map<string, object>()
  return {
    definition,
    state(value) {
      const key = JSON.stringify(value)
      const known = states.get(key) ?? plain(machine.resolveState(State.from(value as never, undefined as unknown)))
      states.set(key, known)
      return known
    },
  }
}

const plain = (value: object): object => JSON.parse(JSON.stringify(value))

/** The same words but for one: a guard was called `cond`. */
function inXState4({ on, always, states, ...rest }: StateConfig): object {
  const transitions = (some: OneOrMore<TransitionConfig>): object[] =>
    [some].flat().map(({ guard, ...same }) => ({ ...same, ...(guard !== undefined && { cond: guard }) }))
  return {
    ...rest,
    ...(on && { on: each(on, transitions) }),
    ...(always && { always: transitions(always) }),
    ...(states && { states: each(states, inXState4) }),
  }
}

const each = <Value>(record: Readonly<Record<string, Value>>, change: (value: Value) => unknown): object =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]))
