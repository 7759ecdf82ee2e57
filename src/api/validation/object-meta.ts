// The rules of metadata that all kinds share, when an object is created and when it changes.

import { type FieldError, forbidden, immutableTime, invalid, required } from '../field-error.js'
import type { ObjectMeta } from '../object.js'
import { joined } from './collect.js'
import { checkNotNegative, checkText, checkUnchanged } from './fields.js'
import { validateFinalizerDomains, validateFinalizers, validateNoNewFinalizers } from './finalizers.js'
import { validateAnnotations, validateLabels } from './labels.js'
import { validateManagedFields } from './managed-fields.js'
import type { NameRule } from './name-problems.js'
import { validateOwnerReferences } from './owner-references.js'
import { dnsLabel } from './text-rules.js'

/** What metadata may depend on. */
export interface MetadataRules {
  readonly namespaced: boolean
  readonly nameProblems: NameRule
  /** The finalizers that may stand without a domain; absent where any may, as on custom resources. */
  readonly standardFinalizers?: readonly string[]
}

export function validateObjectMeta(meta: ObjectMeta, rules: MetadataRules, path = 'metadata'): readonly FieldError[] {
  return joined(
    validateNaming(meta, rules, path),
    checkNotNegative(meta.generation ?? 0, `${path}.generation`),
    validateLabels(meta.labels, `${path}.labels`),
    validateAnnotations(meta.annotations, `${path}.annotations`),
    validateOwnerReferences(meta.ownerReferences, `${path}.ownerReferences`),
    validateFinalizers(meta.finalizers, `${path}.finalizers`),
    validateManagedFields(meta.managedFields, `${path}.managedFields`),
    validateFinalizerDomains(meta.finalizers, `${path}.finalizers`, rules.standardFinalizers),
  )
}

/** The part of the rules that differs from kind to kind: name, namespace, and finalizers without a domain. */
export function validateKindsMeta(meta: ObjectMeta, rules: MetadataRules, path = 'metadata'): readonly FieldError[] {
  return joined(
    validateNaming(meta, rules, path),
    validateFinalizerDomains(meta.finalizers, `${path}.finalizers`, rules.standardFinalizers),
  )
}

function validateNaming(meta: ObjectMeta, rules: MetadataRules, path: string): readonly FieldError[] {
  const { generateName = '', name = '' } = meta
  const errors: FieldError[] = []
  if (generateName !== '') errors.push(...checkText(generateName, `${path}.generateName`, (text) => rules.nameProblems(text, true)))
  if (name === '') errors.push(required(`${path}.name`, 'name or generateName is required'))
  else errors.push(...checkText(name, `${path}.name`, (text) => rules.nameProblems(text, false)))
  errors.push(...validateNamespace(meta.namespace ?? '', rules.namespaced, `${path}.namespace`))
  return errors
}

function validateNamespace(namespace: string, isNamespaced: boolean, field: string): readonly FieldError[] {
  if (!isNamespaced) return namespace === '' ? [] : [forbidden(field, 'not allowed on this type')]
  return namespace === '' ? [required(field)] : checkText(namespace, field, dnsLabel)
}

export interface MetadataChangeRules extends Pick<MetadataRules, 'standardFinalizers'> {
  readonly path?: string
}

export function validateObjectMetaUpdate(next: ObjectMeta, old: ObjectMeta, rules: MetadataChangeRules = {}): readonly FieldError[] {
  const path = rules.path ?? 'metadata'
  return joined(
    validateTransition(next, old, path),
    validateLabels(next.labels, `${path}.labels`),
    validateAnnotations(next.annotations, `${path}.annotations`),
    validateOwnerReferences(next.ownerReferences, `${path}.ownerReferences`),
    validateManagedFields(next.managedFields, `${path}.managedFields`),
    validateFinalizerDomains(next.finalizers, `${path}.finalizers`, rules.standardFinalizers),
  )
}

const fixedFields = ['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const

/** The part of the rules of a change that looks at both: for metadata that are content by themselves it is all that can be wrong. */
export function validateTransition(next: ObjectMeta, old: ObjectMeta, path = 'metadata'): readonly FieldError[] {
  const errors: FieldError[] = []
  if (old.deletionTimestamp !== undefined) {
    errors.push(...validateNoNewFinalizers(next.finalizers, old.finalizers, `${path}.finalizers`))
  }
  if ((next.resourceVersion ?? '') === '') errors.push(invalid(`${path}.resourceVersion`, '', 'must be specified for an update'))
  if ((next.generation ?? 0) < (old.generation ?? 0)) {
    errors.push(invalid(`${path}.generation`, next.generation ?? 0, 'must not be decremented'))
  }
  for (const name of fixedFields) {
    if (next[name] === old[name]) continue
    if (name === 'deletionTimestamp' || name === 'creationTimestamp') errors.push(immutableTime(`${path}.${name}`, next[name]))
    else errors.push(...checkUnchanged(next[name], old[name], `${path}.${name}`))
  }
  return errors
}
