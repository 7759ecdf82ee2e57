// The count of a spec's changes, for kinds that keep one: it tells a controller whether what it saw is still what is wanted.

import { type ApiObject, withMetadata } from './object.js'

/** A new object, whatever generation its sender claims. */
export const asFirstGeneration = <T extends ApiObject>(object: T): T => withMetadata(object, { generation: 1 })

/** The object one generation after the old one. */
export const asNextGeneration = <T extends ApiObject>(next: T, old: ApiObject): T =>
  withMetadata(next, { generation: (old.metadata?.generation ?? 0) + 1 })
