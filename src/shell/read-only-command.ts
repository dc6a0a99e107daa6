import { commandsOf, readPlainScript } from './plain-script.ts'
import { judgeCall } from './programs.ts'

/** Whether the syntax tree shows only programs that read and print. What cannot be read is not. */
export function isReadOnlyCommand(command: string): boolean {
  const script = readPlainScript(command)
  return script.ok && commandsOf(script.statements).every((each) => judgeCall(each) === 'reads')
}
