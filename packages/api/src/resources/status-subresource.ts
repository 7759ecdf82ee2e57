// The status subresource, and metadata.generation: an update keeps the status, a status update keeps the spec.

import { asFirstGeneration, asNextGeneration } from '../api/definition/generation.js'
import type { SubresourceDefinition } from '../api/definition/resource-definition.js'
import type { ApiObject } from '../api/object.js'
import { sameBySchema } from '../api/validation/same-by-schema.js'
import type { SchemaNode } from '../schema/node.js'

interface WithSpecAndStatus extends ApiObject {
  readonly spec?: object
  readonly status?: object
}

export const withFirstGeneration = <T extends ApiObject>(object: T): T => asFirstGeneration({ ...object, status: {} })

export const withNextGeneration = <T extends ApiObject>(next: T, old: T, isChanged: boolean): T =>
  isChanged ? asNextGeneration(next, old) : next

export const withSpecGeneration = <T extends WithSpecAndStatus>(next: T, old: T, specSchema: SchemaNode): T =>
  withNextGeneration(next, old, !sameBySchema(specSchema, next.spec ?? {}, old.spec ?? {}))

export const withKeptStatus = <T extends WithSpecAndStatus>(next: T, old: T, specSchema: SchemaNode): T =>
  withSpecGeneration(withOldStatus(next, old), old, specSchema)

export const withOldStatus = <T extends WithSpecAndStatus>(next: T, old: T): T => ({ ...next, status: old.status ?? {} })

export const withKeptSpec = <T extends WithSpecAndStatus>(next: T, old: T): T => ({ ...next, spec: old.spec ?? {} })

export const statusSubresource = <T extends WithSpecAndStatus>(
  overrides: Partial<SubresourceDefinition<T>> = {},
): SubresourceDefinition<T> => ({
  name: 'status',
  verbs: ['get', 'patch', 'update'],
  prepareUpdate: withKeptSpec,
  resetFields: ['spec'],
  ...overrides,
})
