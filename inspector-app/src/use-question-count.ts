import { useEffect } from 'preact/hooks'

/** The number of open questions in the title of the tab. */
export function useQuestionCount(isPage: boolean, count: number): void {
  useEffect(() => {
    if (!isPage) return
    const { title } = document
    const plain = title.replace(/^\(\d+\) /, '')
    document.title = count === 0 ? plain : `(${count}) ${plain}`
  }, [isPage, count])
}
