export type FileKind =
  | { readonly kind: 'text' }
  | { readonly kind: 'image'; readonly mediaType: string }
  | { readonly kind: 'binary'; readonly what: string }

const images: [mediaType: string, start: string][] = [
  ['image/png', '\x89PNG\r\n'],
  ['image/jpeg', '\xff\xd8\xff'],
  ['image/gif', 'GIF87a'],
  ['image/gif', 'GIF89a'],
]
const known: [what: string, start: string][] = [
  ['a PDF', '%PDF-'],
  ['UTF-16 text', '\xff\xfe'],
  ['UTF-16 text', '\xfe\xff'],
  ['a ZIP archive, or something packed as one', 'PK\x03\x04'],
  ['gzip data', '\x1f\x8b'],
  ['a program', '\x7fELF'],
  ['an SQLite database', 'SQLite format 3\0'],
]

/** Detects the kind from the first bytes; file names are not reliable. */
export function fileKind(start: Uint8Array): FileKind {
  const text = Buffer.from(start.buffer, start.byteOffset, start.byteLength).toString('latin1')
  const image = images.find(([, start]) => text.startsWith(start))
  if (image !== undefined) return { kind: 'image', mediaType: image[0] }
  if (text.startsWith('RIFF') && text.startsWith('WEBP', 8)) return { kind: 'image', mediaType: 'image/webp' }
  const other = known.find(([, start]) => text.startsWith(start))
  if (other !== undefined) return { kind: 'binary', what: other[0] }
  return text.includes('\0') ? { kind: 'binary', what: 'binary data' } : { kind: 'text' }
}
