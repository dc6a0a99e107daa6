import { plainWord } from '../shell-word.ts'

/** Options that decide which model, tools and rules a run has. */
export interface OptionsOfRun {
  readonly script?: string | undefined
  readonly model?: string | undefined
  readonly system?: string | undefined
  readonly cwd: string
  readonly tools?: readonly string[] | undefined
  readonly allow?: readonly string[] | undefined
  readonly ask?: readonly string[] | undefined
  readonly deny?: readonly string[] | undefined
  readonly mcp?: string | undefined
  readonly permissionMode?: string | undefined
}

/** The same options for another run, as words of a command line. A script goes on with other turns. */
export function optionsAgain({ script, cwd, permissionMode, tools, ...options }: OptionsOfRun): string[] {
  const { model, system, allow, ask, deny, mcp } = options
  const given = {
    cwd: cwd === '.' ? undefined : cwd,
    model,
    system,
    tools: tools?.join(','),
    allow,
    ask,
    deny,
    mcp,
    'permission-mode': permissionMode,
  }
  const words = Object.entries(given).flatMap(([name, values]) =>
    [values ?? []].flat().map((value) => `--${name} ${plainWord(value)}`),
  )
  return [...(script === undefined ? [] : ['--script <file with the next turns>']), ...words]
}
