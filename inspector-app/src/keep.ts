/** Settings that persist between visits. */
export interface Keep {
  read(key: string): string | undefined
  write(key: string, text: string): void
}

/** In a host's page, nothing is stored. */
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
      // without storage everything works, only slower
    }
  },
}
