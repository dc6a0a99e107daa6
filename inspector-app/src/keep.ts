/** What a page remembers between visits. */
export interface Keep {
  read(key: string): string | undefined
  write(key: string, text: string): void
}

/** The page of a host is not ours to write into. */
export const keepNothing: Keep = { read: () => undefined, write: () => undefined }

export const keepInBrowser: Keep = {
  read(key) {
    try {
      return localStorage.getItem(`signalbox.${key}`) ?? undefined
    } catch {
      return undefined
    }
  },
  write(key, text) {
    try {
      localStorage.setItem(`signalbox.${key}`, text)
    } catch {
      // a browser that keeps nothing shows the same, only later
    }
  },
}
