import { runTurn } from './signalbox.mjs'

const observe = (executor) => executor.actor.system.inspect(() => {})

/** The same with somebody watching who does nothing with what is seen. */
export default {
  name: 'signalbox-observed',
  keepsRules: true,
  turn: (calls, tools) => runTurn(calls, tools, observe),
}
