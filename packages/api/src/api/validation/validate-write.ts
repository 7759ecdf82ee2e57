// Validation of a create or update of any kind: order of metadata checks and checks of the kind.

import { weakMemoize } from '../../base/recent-map.js'
import type { Check, ResourceDefinition, RuleContext, SubresourceDefinition } from '../definition/resource-definition.js'
import type { FieldError } from '../field-error.js'
import type { Identity } from '../identity.js'
import type { ApiObject, ObjectMeta } from '../object.js'
import { joined, noErrors, noNameProblems, pathSegmentProblems } from './checks.js'
import { standardFinalizers, validateFinalizerDomains } from './metadata/finalizers.js'
import {
  type MetadataRules,
  validateKindSpecificMeta,
  validateObjectMeta,
  validateObjectMetaUpdate,
  validateTransition,
} from './metadata/object-meta.js'

const createOrder: readonly Check[] = ['metadata', 'validate']
const updateOrder: readonly Check[] = ['metadataChange', 'validateUpdate']
const noMetadata: ObjectMeta = Object.freeze({})

/** For kinds that do not check metadata or names, runs the common metadata rules last, if there is no other error. */
export function validateCreation(definition: ResourceDefinition, object: ApiObject, context: RuleContext): readonly FieldError[] {
  const meta = object.metadata ?? noMetadata
  const order = definition.checks?.create ?? createOrder
  const errors = order.flatMap((check) =>
    check === 'metadata' ? validateObjectMeta(meta, kindRules(definition, context)) : (definition.validate?.(object, context) ?? noErrors),
  )
  const isChecked = order.includes('metadata') && definition.nameProblems !== noNameProblems
  return errors.length > 0 || isChecked ? errors : validateObjectMeta(meta, commonRules(definition))
}

interface Change {
  readonly next: ApiObject
  readonly old: ApiObject
  readonly subresource?: SubresourceDefinition
}

/** Repeats metadata errors that several checks find, like kube-apiserver. */
export function validateChange(definition: ResourceDefinition, change: Change, context: RuleContext): readonly FieldError[] {
  const next = change.next.metadata ?? noMetadata
  const old = change.old.metadata ?? noMetadata
  const metaErrors = validateObjectMeta(next, commonRules(definition))
  const common = metaErrors.length === 0 ? validateTransition(next, old) : [...metaErrors, ...validateObjectMetaUpdate(next, old)]
  const isClean = common.length === 0
  const rules = kindRules(definition, context)
  const runCheck = (check: Check): readonly FieldError[] => {
    switch (check) {
      case 'metadata':
        return isClean ? validateKindSpecificMeta(next, rules) : validateObjectMeta(next, rules)
      case 'metadataChange':
        return isClean
          ? validateFinalizerDomains(next.finalizers, 'metadata.finalizers', rules.standardFinalizers)
          : validateObjectMetaUpdate(next, old, rules)
      case 'validate':
        return definition.validate?.(change.next, context, change.old) ?? noErrors
      case 'validateUpdate':
        return (change.subresource ?? definition).validateUpdate?.(change.next, change.old, context) ?? noErrors
    }
  }
  let errors = common
  for (const check of change.subresource === undefined ? (definition.checks?.update ?? updateOrder) : updateOrder) {
    errors = joined(errors, runCheck(check))
  }
  return errors
}

const commonRules = ({ namespaced }: ResourceDefinition): MetadataRules => (namespaced ? namespacedRules : clusterScopedRules)

const namespacedRules: MetadataRules = { namespaced: true, nameProblems: pathSegmentProblems }
const clusterScopedRules: MetadataRules = { namespaced: false, nameProblems: pathSegmentProblems }

const kindRules = (definition: ResourceDefinition, { identity }: RuleContext): MetadataRules => rulesUnder(identity)(definition)

const rulesUnder = weakMemoize((identity: Identity) =>
  weakMemoize(
    (definition: ResourceDefinition): MetadataRules => ({
      namespaced: definition.namespaced,
      nameProblems: definition.nameProblems,
      ...(definition.anyFinalizer ? {} : { standardFinalizers: standardFinalizers(identity) }),
    }),
  ),
)
