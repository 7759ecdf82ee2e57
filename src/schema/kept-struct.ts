// Structs that pass unchanged from one state of an object to the next: the entries of those who own fields. What was read back of one is
// known to be as it would be parsed, and its text is kept beside it, for as long as it lives itself.

import type { StructNode } from './node.js'

export interface KeptStruct {
  /** As it is stored, once somebody has written it. */
  text: string | undefined
}

/** The structs that were read back, by themselves. Nobody changes one. */
export const keptStructs = new WeakMap<object, KeptStruct>()

/** Whether structs of this node are worth it: they hold a set of fields, which may be longer than all else in the object. */
export const isKeptStruct = ({ fields }: StructNode): boolean =>
  Object.values(fields).some(({ node }) => node.type === 'any' && node.form === 'fields')
