// Sets metadata.generation: 1 on create, and one more than before when the caller finds the spec changed.

import { type ApiObject, withMetadata } from '../object.js'

export const asFirstGeneration = <T extends ApiObject>(object: T): T => withMetadata(object, { generation: 1 })

export const asNextGeneration = <T extends ApiObject>(next: T, old: ApiObject): T =>
  withMetadata(next, { generation: (old.metadata?.generation ?? 0) + 1 })
