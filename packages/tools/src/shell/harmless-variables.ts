import type { PlainWord } from './plain-word.ts'

/** Variables that change a program's output or input text, but never what it runs, loads or writes. */
const names = new Set(
  `CI NODE_ENV APP_ENV RAILS_ENV RACK_ENV MIX_ENV FLASK_ENV DJANGO_ENV ENVIRONMENT NO_COLOR FORCE_COLOR CLICOLOR
  CLICOLOR_FORCE COLORTERM COLUMNS LINES TERM TZ LANG LANGUAGE PORT VERBOSE DEBUG LOG_LEVEL RUST_LOG RUST_BACKTRACE
  CARGO_TERM_COLOR PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONIOENCODING PYTHONUTF8 PY_COLORS
  GOOS GOARCH CGO_ENABLED GO111MODULE GOMAXPROCS GIT_PAGER_IN_USE GIT_OPTIONAL_LOCKS HUSKY SOURCE_DATE_EPOCH
  DOTNET_CLI_TELEMETRY_OPTOUT NEXT_TELEMETRY_DISABLED TURBO_TELEMETRY_DISABLED UPDATE_SNAPSHOTS TEST_ENV`.split(/\s+/),
)

export const isHarmlessName = (name: string): boolean => names.has(name) || /^LC_[A-Z]+$/.test(name)

/** The name and the value of `NAME=value`. */
function assignmentOf({ text }: PlainWord): [name: string, value: string] {
  const at = text.indexOf('=')
  return [text.slice(0, at), text.slice(at + 1)]
}

/** A value that is a path could make a program load a file: `LANGUAGE=../../x`. */
export function isHarmlessAssignment(word: PlainWord): boolean {
  const [name, value] = assignmentOf(word)
  return isHarmlessName(name) && !/^:?\/|\.\./.test(value)
}
