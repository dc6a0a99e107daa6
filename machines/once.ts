/** Made when it is first wanted: an import waits for nothing, and what nobody uses is not made. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
