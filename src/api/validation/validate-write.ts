// The order in which a write is checked, for every kind: what the verbs call before anything is stored.

import type { Check, ResourceDefinition, RuleContext, SubresourceDefinition } from '../definition.js'
import type { FieldError } from '../field-error.js'
import type { ApiObject, ObjectMeta } from '../object.js'
import { noErrors } from './fields.js'
import { standardFinalizers, validateFinalizerDomains } from './finalizers.js'
import { pathSegmentProblems } from './name-problems.js'
import { type MetadataRules, validateKindsMeta, validateObjectMeta, validateObjectMetaUpdate } from './object-meta.js'

const createOrder: readonly Check[] = ['metadata', 'own']
const updateOrder: readonly Check[] = ['metadataChange', 'ownChange']
const noMetadata: ObjectMeta = Object.freeze({})

/** What is wrong with a new object. A kind that does not look at metadata itself has it checked by the common rules, once it is content. */
export function validateCreation(definition: ResourceDefinition, object: ApiObject, context: RuleContext): readonly FieldError[] {
  const meta = object.metadata ?? noMetadata
  const order = definition.checks?.create ?? createOrder
  const errors = order.flatMap((check) =>
    check === 'metadata' ? validateObjectMeta(meta, kindRules(definition, context)) : (definition.validate?.(object, context) ?? noErrors),
  )
  return errors.length > 0 || order.includes('metadata') ? errors : validateObjectMeta(meta, commonRules(definition))
}

/** A change of an object, by the main resource or by one of its subresources. */
export interface Change {
  readonly next: ApiObject
  readonly old: ApiObject
  readonly subresource?: SubresourceDefinition
}

/**
 * What is wrong with a change. The common rules come first, whatever the kind; then the kind's own rounds, some of which look at
 * metadata again. What they find is reported again, as clients know it; but they look again only where there was something to find.
 */
export function validateChange(definition: ResourceDefinition, change: Change, context: RuleContext): readonly FieldError[] {
  const next = change.next.metadata ?? noMetadata
  const old = change.old.metadata ?? noMetadata
  const common = [...validateObjectMeta(next, commonRules(definition)), ...validateObjectMetaUpdate(next, old)]
  const isClean = common.length === 0
  const rules = kindRules(definition, context)
  const rounds: { readonly [C in Check]: () => readonly FieldError[] } = {
    metadata: () => (isClean ? validateKindsMeta(next, rules) : validateObjectMeta(next, rules)),
    metadataChange: () =>
      isClean
        ? validateFinalizerDomains(next.finalizers, 'metadata.finalizers', rules.standardFinalizers)
        : validateObjectMetaUpdate(next, old, rules),
    own: () => definition.validate?.(change.next, context) ?? noErrors,
    ownChange: () => (change.subresource ?? definition).validateUpdate?.(change.next, change.old, context) ?? noErrors,
  }
  const order = change.subresource === undefined ? (definition.checks?.update ?? updateOrder) : updateOrder
  return [...common, ...order.flatMap((check) => rounds[check]())]
}

const commonRules = (definition: ResourceDefinition): MetadataRules => ({
  namespaced: definition.namespaced,
  nameProblems: pathSegmentProblems,
})

const kindRules = (definition: ResourceDefinition, context: RuleContext): MetadataRules => ({
  namespaced: definition.namespaced,
  nameProblems: definition.nameProblems,
  ...(definition.anyFinalizer ? {} : { standardFinalizers: standardFinalizers(context.identity) }),
})
