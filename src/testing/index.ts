export { exploreTurn } from './explore-turn.ts'
