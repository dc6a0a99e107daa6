import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Store, View } from './store.ts'

export const StoreContext = createContext<Store>(undefined as unknown as Store)
export const ViewContext = createContext<View>(undefined as unknown as View)

export const useStore = (): Store => useContext(StoreContext)
export const useView = (): View => useContext(ViewContext)
