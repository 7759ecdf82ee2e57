// The rules of metadata that all kinds share, when an object is created and when it changes.

import { type FieldError, forbidden, immutableTime, invalid, required } from '../field-error.js'
import type { ObjectMeta } from '../object.js'
import { joined } from './collect.js'
import { checkNotNegative, checkText, checkUnchanged, noErrors } from './fields.js'
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
  const { generation = 0, labels, annotations, ownerReferences, finalizers, managedFields } = meta
  // Most objects have little of this, and no path is made for what is not there.
  return joined(
    validateNaming(meta, rules, path),
    generation === 0 ? noErrors : checkNotNegative(generation, `${path}.generation`),
    labels === undefined ? noErrors : validateLabels(labels, `${path}.labels`),
    annotations === undefined ? noErrors : validateAnnotations(annotations, `${path}.annotations`),
    ownerReferences === undefined ? noErrors : validateOwnerReferences(ownerReferences, `${path}.ownerReferences`),
    finalizers === undefined ? noErrors : validateFinalizers(finalizers, `${path}.finalizers`),
    managedFields === undefined ? noErrors : validateManagedFields(managedFields, `${path}.managedFields`),
    finalizers === undefined ? noErrors : validateFinalizerDomains(finalizers, `${path}.finalizers`, rules.standardFinalizers),
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
  const { generateName = '', name = '', namespace = '' } = meta
  return joined(
    generateName === '' ? noErrors : checkText(generateName, `${path}.generateName`, (text) => rules.nameProblems(text, true)),
    name === ''
      ? [required(`${path}.name`, 'name or generateName is required')]
      : checkText(name, `${path}.name`, (text) => rules.nameProblems(text, false)),
    validateNamespace(namespace, rules.namespaced, `${path}.namespace`),
  )
}

function validateNamespace(namespace: string, isNamespaced: boolean, field: string): readonly FieldError[] {
  if (!isNamespaced) return namespace === '' ? noErrors : [forbidden(field, 'not allowed on this type')]
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
