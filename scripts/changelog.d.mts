export interface Note {
  readonly packages: readonly string[]
  readonly items: readonly { readonly kind: string; readonly text: string }[]
}
export function readNote(name: string, text: string): Note
export function readNotes(folder: string): (Note & { readonly name: string })[]
export function fold(changelog: string, notes: readonly Note[]): string
