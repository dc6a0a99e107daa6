import type { Tool } from './tool.ts'

/** A typo in an optional key would go unnoticed; a missing required key is a type error already. */
type OptionalKey = Exclude<keyof Tool, 'name' | 'inputSchema' | 'call'>

/** Fewer typos for a short key, because too many other words are close to it. */
type SlipsFor<Key> = Key extends 'retry' ? [0] : [0, 0]

/**
 * Finds keys that are close to a known key: other capitals, underscores, or up to two typos. Their type accepts no value,
 * and the compiler's message names the likely key. All other extra keys are allowed.
 */
export type WithoutMisspeltKeys<Given> = [HasMisspeltKeys<Given>] extends [true]
  ? { [Key in MisspeltKey<keyof Given>]: `Did you mean ${Meant<Key>}?` }
  : unknown

// compared with `true`, so that a generic wrapper, whose keys are not known yet, still compiles
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

/** Whether that many typos turn one word into the other: a letter changed, removed or inserted. */
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
