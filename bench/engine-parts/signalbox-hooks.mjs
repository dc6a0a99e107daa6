const hook = async () => ({})

/** The given numbers of no-op hooks before and after each call. */
export const hooksOf = (before, after) => ({
  PreToolUse: [{ matcher: '*', hooks: Array.from({ length: before }, () => hook) }],
  PostToolUse: [{ matcher: '*', hooks: Array.from({ length: after }, () => hook) }],
})
