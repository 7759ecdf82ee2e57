// Fixture: a valid pod template, and create and update without a server.

import type { ResourceDefinition, RuleContext, SubresourceDefinition } from '../../../api/definition/resource-definition.js'
import type { FieldError } from '../../../api/field-error.js'
import { type ApiObject, withMetadata } from '../../../api/object.js'
import { frozen, testContext, testNow } from '../../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../../api/validation/validate-write.js'
import { timeOf } from '../../../schema/scalars.js'
import type { PodSpec, PodTemplateSpec } from '../v1.schema.js'

export const testMetadata = {
  name: 'a',
  namespace: 'shop',
  uid: 'u',
  resourceVersion: '1',
  creationTimestamp: timeOf(testNow - 90_000),
}

export const template = (spec: PodSpec = {}): PodTemplateSpec => ({
  metadata: { labels: { app: 'a' } },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
})
export const selector = { matchLabels: { app: 'a' } }

export function writerOf<T extends ApiObject>(definition: ResourceDefinition, context: RuleContext = testContext()) {
  const kind = definition as unknown as ResourceDefinition<T>
  const complete = (object: T): T =>
    frozen(kind.defaults?.(frozen({ metadata: testMetadata, ...object }), context) ?? { metadata: testMetadata, ...object })
  const create = (object: T): T => frozen(kind.prepareCreate?.(complete(object), context) ?? complete(object))
  // The server sets the old generation before prepareUpdate.
  const kept = (next: T, old: T): T => complete(withMetadata({ metadata: testMetadata, ...next }, { generation: old.metadata?.generation }))
  const update = (next: T, old: T): T => frozen(kind.prepareUpdate?.(kept(next, old), old, context) ?? kept(next, old))
  const part = (name: string): SubresourceDefinition<T> => {
    const found = kind.subresources?.find((candidate) => candidate.name === name)
    if (found === undefined) throw new Error(`no subresource ${name}`)
    return found
  }
  return {
    kind,
    context,
    complete,
    create,
    update,
    part,
    isComplete: (object: T): boolean => (kind.defaults?.(object, context) ?? object) === object,
    createErrors: (object: T): readonly FieldError[] => validateCreation(definition, create(object), context),
    updateErrors: (next: T, old: T): readonly FieldError[] => validateChange(definition, { next: update(next, old), old }, context),
    statusErrors: (next: T, old: T): readonly FieldError[] => {
      const status = part('status')
      return status.validateUpdate?.(frozen(status.prepareUpdate(kept(next, old), old, context)), old, context) ?? []
    },
    cells: (object: T): readonly unknown[] => kind.table?.cells(complete(object), context) ?? [],
  }
}
