import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { Store, type View } from './store.ts'

export const StoreContext = createContext<Store>(undefined as unknown as Store)
export const ViewContext = createContext<View>(undefined as unknown as View)

export const useStore = (): Store => useContext(StoreContext)
export const useView = (): View => useContext(ViewContext)

export const createStore = (): Store => new Store()
