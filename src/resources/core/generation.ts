// What writes to the two halves of a workload keep of each other, and the generation that counts changes of the wanted half.

import { asFirstGeneration, asNextGeneration } from '../../api/generation.js'
import type { ApiObject } from '../../api/object.js'
import { sameBySchema } from '../../api/validation/same-by-schema.js'
import type { SchemaNode } from '../../schema/node.js'

/** The first generation, of a new object without a status. */
export const withFirstGeneration = <T extends ApiObject>(object: T): T => asFirstGeneration({ ...object, status: {} })

/** The next generation where something wanted has changed. */
export const withNextGeneration = <T extends ApiObject>(next: T, old: T, isChanged: boolean): T =>
  isChanged ? asNextGeneration(next, old) : next

interface Specified extends ApiObject {
  readonly spec?: object
  readonly status?: object
}

/** What a write to the main resource keeps: the status as it was, and a generation that counts changes of the spec. */
export function withKeptStatus<T extends Specified>(next: T, old: T, specSchema: SchemaNode): T {
  const kept = { ...next, status: old.status ?? {} }
  return withNextGeneration(kept, old, !sameBySchema(specSchema, next.spec ?? {}, old.spec ?? {}))
}

/** What a write to the status keeps: the spec as it was. */
export const withKeptSpec = <T extends Specified>(next: T, old: T): T => ({ ...next, spec: old.spec ?? {} })
