// The order in which a write is checked, for every kind: what the verbs call before anything is stored.

import { onceFor } from '../../base/once-for.js'
import type { Check, ResourceDefinition, RuleContext, SubresourceDefinition } from '../definition.js'
import type { FieldError } from '../field-error.js'
import type { Identity } from '../identity.js'
import type { ApiObject, ObjectMeta } from '../object.js'
import { joined } from './collect.js'
import { noErrors } from './fields.js'
import { standardFinalizers, validateFinalizerDomains } from './finalizers.js'
import { pathSegmentProblems } from './name-problems.js'
import { type MetadataRules, validateKindsMeta, validateObjectMeta, validateObjectMetaUpdate, validateTransition } from './object-meta.js'

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
  const found = validateObjectMeta(next, commonRules(definition))
  const common = found.length === 0 ? validateTransition(next, old) : [...found, ...validateObjectMetaUpdate(next, old)]
  const isClean = common.length === 0
  const rules = kindRules(definition, context)
  const look = (check: Check): readonly FieldError[] => {
    switch (check) {
      case 'metadata':
        return isClean ? validateKindsMeta(next, rules) : validateObjectMeta(next, rules)
      case 'metadataChange':
        return isClean
          ? validateFinalizerDomains(next.finalizers, 'metadata.finalizers', rules.standardFinalizers)
          : validateObjectMetaUpdate(next, old, rules)
      case 'own':
        return definition.validate?.(change.next, context, change.old) ?? noErrors
      case 'ownChange':
        return (change.subresource ?? definition).validateUpdate?.(change.next, change.old, context) ?? noErrors
    }
  }
  let errors = common
  for (const check of change.subresource === undefined ? (definition.checks?.update ?? updateOrder) : updateOrder) {
    errors = joined(errors, look(check))
  }
  return errors
}

const commonRules = ({ namespaced }: ResourceDefinition): MetadataRules => (namespaced ? rulesOfNamespaced : rulesOfOthers)

const rulesOfNamespaced: MetadataRules = { namespaced: true, nameProblems: pathSegmentProblems }
const rulesOfOthers: MetadataRules = { namespaced: false, nameProblems: pathSegmentProblems }

/** Made once for a kind, under each identity. */
const kindRules = (definition: ResourceDefinition, { identity }: RuleContext): MetadataRules => rulesUnder(identity)(definition)

const rulesUnder = onceFor((identity: Identity) =>
  onceFor(
    (definition: ResourceDefinition): MetadataRules => ({
      namespaced: definition.namespaced,
      nameProblems: definition.nameProblems,
      ...(definition.anyFinalizer ? {} : { standardFinalizers: standardFinalizers(identity) }),
    }),
  ),
)
