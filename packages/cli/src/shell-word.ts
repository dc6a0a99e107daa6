/** A word for a command line that people copy: quoted for the shell. */
export const shellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** The same, without quotes where none are needed. */
export const plainWord = (text: string): string => (/^[\w@%+=:,./][\w@%+=:,./-]*$/.test(text) ? text : shellWord(text))
