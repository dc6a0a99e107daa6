import type { Tool } from './tool.ts'

/** The keys of a tool that nobody would miss, were they misspelt: the others are required. */
type OptionalKey = Exclude<keyof Tool, 'name' | 'inputSchema' | 'call'>

/** Of short words too many others are near. */
type SlipsFor<Key> = Key extends 'retry' ? [0] : [0, 0]

/**
 * Keys of a tool that are nearly one that Signalbox knows: other capitals or underscores, or a slip of two letters at
 * the most. No value fits them, and the compiler says which key was meant. All other keys of a host's own are free.
 */
export type WithoutMisspeltKeys<Given> = [HasMisspeltKeys<Given>] extends [true]
  ? { [Key in MisspeltKey<keyof Given>]: `Did you mean ${Meant<Key>}?` }
  : unknown

// compared with `true`: in a wrapper whose keys are not known yet, the compiler then sees that nothing need be wrong
type HasMisspeltKeys<Given> = [MisspeltKey<keyof Given>] extends [never] ? false : true

type MisspeltKey<Key> = Key extends string
  ? string extends Key
    ? never
    : Key extends keyof Tool
      ? never
      : [Meant<Key>] extends [never]
        ? never
        : Key
  : never

type Meant<Given extends string> = {
  [Key in OptionalKey]: true extends IsNear<Lowercase<Given>, Lowercase<Key>, SlipsFor<Key>> ? Key : never
}[OptionalKey]

/** Whether so many slips make one word of the other: a letter changed, left out or put in. */
type IsNear<One extends string, Other extends string, Slips extends 0[]> = One extends Other
  ? true
  : One extends `_${infer Rest}`
    ? IsNear<Rest, Other, Slips>
    : One extends `${infer First}${infer Rest}`
      ? Other extends `${First}${infer OtherRest}`
        ? IsNear<Rest, OtherRest, Slips>
        : Slips extends [0, ...infer Left extends 0[]]
          ? Other extends `${string}${infer OtherRest}`
            ? IsNear<Rest, OtherRest, Left> | IsNear<Rest, Other, Left> | IsNear<One, OtherRest, Left>
            : IsNear<Rest, Other, Left>
          : false
      : Slips extends [0, ...infer Left extends 0[]]
        ? Other extends `${string}${infer OtherRest}`
          ? IsNear<One, OtherRest, Left>
          : false
        : false
