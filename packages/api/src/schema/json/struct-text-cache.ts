// Cache of the stored JSON of structs that rarely change between versions of an object: managedFields entries.

import type { StructNode } from '../node.js'

interface CachedText {
  text: string | undefined
}

/** Keys are immutable structs. */
export const cachedStructTexts = new WeakMap<object, CachedText>()

/** True for structs with a FieldsV1 field, which may be longer than the rest of the object. */
export const hasCachedText = ({ fields }: StructNode): boolean =>
  Object.values(fields).some(({ node }) => node.type === 'any' && node.form === 'fields')
