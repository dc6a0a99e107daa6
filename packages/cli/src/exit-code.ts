/** Exit codes of the command line. */
export const exitCode = {
  done: 0,
  /** The run failed. */
  failed: 1,
  badUsage: 2,
  /** `check` found faults. */
  faultsFound: 3,
  /** The run reached `--max-turns` or a limit. */
  limitReached: 4,
  /** The session is stored and can be resumed. */
  suspended: 5,
  interrupted: 130,
  terminated: 143,
} as const

export const exitCodesHelp = `
Exit codes:
  0    done
  1    the run ended in an error, an answer was stale, or a worker killed calls
  2    something is wrong with the command line, a file or the setup
  3    check found faults
  4    the run was ended by --max-turns or a --limit
  5    the session is suspended: answer its questions, then resume it
  130  interrupted (Ctrl+C); 143 ended by SIGTERM`
