const hook = async () => ({})

/** So many hooks before each call and after it, which have nothing to say. */
export const hooksOf = (before, after) => ({
  PreToolUse: [{ matcher: '*', hooks: Array.from({ length: before }, () => hook) }],
  PostToolUse: [{ matcher: '*', hooks: Array.from({ length: after }, () => hook) }],
})
