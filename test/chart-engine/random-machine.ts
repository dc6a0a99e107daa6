import {
  type AnyStateMachine,
  and,
  assign,
  cancel,
  createMachine,
  emit,
  enqueueActions,
  log,
  not,
  or,
  raise,
  sendParent,
  sendTo,
  stateIn,
} from 'xstate'

/** Generates a machine from a seed: the same seed, the same machine. */
class Choices {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** Mulberry32. */
  below(bound: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound
  }

  chance(percent: number): boolean {
    return this.below(100) >= 100 - percent
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item
  }

  list<Item>(atMost: number, make: () => Item): Item[] {
    return Array.from({ length: this.below(atMost + 1) }, make)
  }
}

export const eventTypes = ['e0', 'e1', 'e2', 'e3'] as const

/** The log of a machine, and its remaining budget: no machine runs for ever. */
export interface Run {
  readonly trace: unknown[]
  fuel: number
  /** Whether there is a parent to send to. */
  readonly isChild: boolean
}

interface Context {
  n: number
  m: number
}
interface Args {
  context: Context
  event: { type: string }
}

export interface Size {
  /** The nesting depth of states. */
  readonly depth: number
  /** The number of sibling states. */
  readonly width: number
}

/** A machine of compound, parallel and final states with every kind of guard and action that a table supports. */
export function randomMachine(seed: number, { depth: deepest, width }: Size, run: Run): AnyStateMachine {
  const choices = new Choices(seed)
  const ids: string[] = []
  const isFuelled = () => run.fuel-- > 0
  const seen = ({ context, event }: Args) => [context.n, context.m, event.type]
  const note = (name: string) => (args: Args, params?: unknown) => void run.trace.push([name, ...seen(args), params])
  const nextEvent = () => ({ type: isFuelled() ? choices0(run, eventTypes) : 'idle' })

  const guards = {
    isEven: (args: Args) => tell('isEven', args, args.context.n % 2 === 0),
    isBelow: (args: Args, bound: number) => tell('isBelow', args, args.context.n < bound),
    hasFuel: (args: Args) => tell('hasFuel', args, isFuelled()),
    never: (args: Args) => tell('never', args, false),
    alias: 'isEven',
    combined: and(['isEven', not('never')]),
  }
  function tell(name: string, args: Args, answer: boolean): boolean {
    run.trace.push([name, ...seen(args), answer])
    return answer
  }

  const actions = {
    noted: note('noted'),
    counted: assign({ n: ({ context }: Args) => context.n + 1 }),
    doubled: assign(({ context }: Args) => ({ m: context.m + context.n })),
    set: assign({ m: (_: Args, to: number) => to, n: 3 }),
    again: sendTo((({ self }: { self: never }) => self) as never, nextEvent as never),
    many: enqueueActions((({ enqueue, check, context }: ManyArgs) => {
      enqueue.assign({ n: context.n + 2 })
      if (check('isEven')) enqueue('noted')
      enqueue.assign(({ context: now }: Args) => ({ m: now.n }))
      enqueue({ type: 'noted', params: context.n })
      if (context.m % 3 === 0) enqueue.raise(nextEvent())
      if (context.m % 3 === 1) enqueue.sendTo(({ self }: { self: unknown }) => self, nextEvent())
      enqueue(note('inline'))
      if (context.m % 5 === 0) enqueue('deeper')
    }) as never),
    deeper: enqueueActions((({ enqueue, check }: ManyArgs) => {
      if (check({ type: 'isBelow', params: 4 })) enqueue('counted')
      enqueue.emit({ type: 'emitted', deep: true })
      enqueue.raise({ type: 'e1' }, { delay: 7, id: 'deep' })
      enqueue.cancel('deep')
    }) as never),
  }

  const guardNames = ['isEven', 'hasFuel', 'never', 'alias', 'combined'] as const
  const plainGuard = (): unknown => {
    switch (choices.below(5)) {
      case 0:
        return { type: 'isBelow', params: choices.below(6) }
      case 1:
        return { type: 'isBelow', params: ({ context }: Args) => context.m }
      case 2:
        return (args: Args) => tell('inline', args, args.context.m % 2 === 0)
      default:
        return choices.pick(guardNames)
    }
  }
  const guard = (): unknown => {
    switch (choices.below(9)) {
      case 0:
        return and([plainGuard(), plainGuard()] as never)
      case 1:
        return or([plainGuard(), plainGuard()] as never)
      case 2:
        return not(plainGuard() as never)
      case 3:
        return stateIn(`#${choices.pick(ids)}`)
      default:
        return plainGuard()
    }
  }
  const action = (): unknown => {
    switch (choices.below(15)) {
      case 0:
        return { type: 'noted', params: choices.below(9) }
      case 1:
        return { type: 'noted', params: ({ context, event }: Args) => [context.n, event.type] }
      case 2:
        return note('inline')
      case 3:
        return { type: 'set', params: choices.below(9) }
      case 4:
        return raise(nextEvent as never)
      case 5:
        return raise(
          { type: choices.pick(eventTypes) },
          { delay: 1 + choices.below(20), id: choices.pick(['one', 'two']) },
        )
      case 6:
        return cancel(choices.pick(['one', 'two']))
      case 7:
        return emit(({ context }: Args) => ({ type: 'emitted', n: context.n }))
      case 8:
        return log(({ context }: Args) => `n is ${context.n}`)
      case 9:
        return choices.pick(['unknown', 'again', run.isChild ? sendParent({ type: 'reported' }) : 'noted'] as never[])
      default:
        return choices.pick(['noted', 'counted', 'doubled', 'many', 'deeper'])
    }
  }
  const actionsOf = () => choices.list(2, action)

  const shape = (depth: number, path: string): Shape => {
    const id = path
    ids.push(id)
    const isInner = depth < deepest && (depth === 0 || choices.chance(45))
    if (!isInner) return { id, kind: depth > 0 && choices.chance(18) ? 'final' : 'atomic', children: [] }
    const children = Array.from({ length: 1 + choices.below(width) }, (_, at) => shape(depth + 1, `${path}_${at}`))
    return { id, kind: choices.chance(35) ? 'parallel' : 'compound', children }
  }

  const targets = (): string | string[] | undefined => {
    if (choices.chance(20)) return undefined
    const one = `#${choices.pick(ids)}`
    return choices.chance(8) ? [one, `#${choices.pick(ids)}`] : one
  }
  const transition = (mayLoop: boolean): object => ({
    ...((mayLoop || choices.chance(50)) && { guard: mayLoop ? and(['hasFuel', guard() as never]) : guard() }),
    target: targets(),
    ...(choices.chance(30) && { reenter: choices.chance(70) }),
    actions: actionsOf(),
  })
  const build = ({ id, kind, children }: Shape): object => {
    const own = {
      id,
      entry: actionsOf(),
      exit: actionsOf(),
      tags: choices.list(2, () => choices.pick(['red', 'green'])),
      ...(choices.chance(20) && { meta: { of: id } }),
    }
    if (kind === 'final') {
      return { ...own, type: 'final', ...(choices.chance(50) && { output: ({ context }: Args) => context.n }) }
    }
    const on = Object.fromEntries(
      eventTypes.flatMap((type) => {
        const list = choices.list(2, () => transition(false))
        return list.length === 0 ? [] : [[type, choices.chance(5) ? {} : list]]
      }),
    )
    const answers = {
      ...own,
      on,
      ...(choices.chance(25) && { always: choices.list(2, () => transition(true)) }),
      ...(choices.chance(10) && { after: { [5 + choices.below(9)]: transition(false) } }),
    }
    if (kind === 'atomic') return answers
    const states = Object.fromEntries(children.map((child) => [child.id, build(child)]))
    const inner = { ...answers, states, ...(choices.chance(60) && { onDone: transition(true) }) }
    if (kind === 'parallel') return { ...inner, type: 'parallel' }
    const initial = choices.pick(children).id
    return { ...inner, initial: choices.chance(30) ? { target: initial, actions: actionsOf() } : initial }
  }
  const tree = shape(0, 'm')
  const root = build(tree)
  const context = choices.chance(50)
    ? { n: choices.below(4), m: choices.below(4) }
    : ({ input }: { input: number }) => ({ n: input, m: 1 })
  const output = choices.chance(50) && {
    output: ({ context: last, event }: Args) => [last.n, last.m, event],
  }
  return createMachine(
    { ...root, context, ...output } as never,
    { guards, actions } as never,
  ) as unknown as AnyStateMachine
}

interface Shape {
  readonly id: string
  readonly kind: 'atomic' | 'final' | 'compound' | 'parallel'
  readonly children: readonly Shape[]
}

interface ManyArgs {
  enqueue: ((action: unknown) => void) &
    Record<'assign' | 'raise' | 'sendTo' | 'emit' | 'cancel', (...args: unknown[]) => void>
  check(guard: unknown): boolean
  context: Context
}

const choices0 = <Item>({ fuel }: Run, items: readonly Item[]): Item => items[fuel % items.length] as Item
