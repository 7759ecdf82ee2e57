// Validation of ObjectMeta on create and update, shared by all kinds, with managedFields and owner references.

import { isPrintable } from '../../../base/text/is-printable.js'
import { type FieldError, forbidden, immutableTime, invalid, maxErrors, required, tooLong } from '../../field-error.js'
import { type ApiObject, type ManagedFieldsEntry, type ObjectMeta, type OwnerReference, withMetadata } from '../../object.js'
import { byteLength } from '../byte-length.js'
import { checkNotNegative, checkText, checkUnchanged, joined, type NameRule, noErrors } from '../checks.js'
import { dnsLabel } from '../name-formats.js'
import { sameValue } from '../same-value.js'
import { validateFinalizerDomains, validateFinalizers, validateNoNewFinalizers } from './finalizers.js'
import { validateAnnotations, validateLabels } from './labels.js'

export interface MetadataRules {
  readonly namespaced: boolean
  readonly nameProblems: NameRule
  /** Undefined: finalizers need no domain, as on custom resources. */
  readonly standardFinalizers?: readonly string[]
}

export function validateObjectMeta(meta: ObjectMeta, rules: MetadataRules, path = 'metadata'): readonly FieldError[] {
  const { generation = 0, labels, annotations, ownerReferences, finalizers, managedFields } = meta
  // Avoids building field paths of absent fields.
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

/** Rules that differ by kind: name, namespace, finalizers without a domain. */
export function validateKindSpecificMeta(meta: ObjectMeta, rules: MetadataRules, path = 'metadata'): readonly FieldError[] {
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

interface MetadataChangeRules extends Pick<MetadataRules, 'standardFinalizers'> {
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

const immutableFields = ['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const

/** Rules of an update that compare old and new metadata. Valid new metadata needs no other check. */
export function validateTransition(next: ObjectMeta, old: ObjectMeta, path = 'metadata'): readonly FieldError[] {
  const errors: FieldError[] = []
  if (old.deletionTimestamp !== undefined) {
    errors.push(...validateNoNewFinalizers(next.finalizers, old.finalizers, `${path}.finalizers`))
  }
  if ((next.resourceVersion ?? '') === '') errors.push(invalid(`${path}.resourceVersion`, '', 'must be specified for an update'))
  if ((next.generation ?? 0) < (old.generation ?? 0)) {
    errors.push(invalid(`${path}.generation`, next.generation ?? 0, 'must not be decremented'))
  }
  for (const name of immutableFields) {
    if (next[name] === old[name]) continue
    if (name === 'deletionTimestamp' || name === 'creationTimestamp') errors.push(immutableTime(`${path}.${name}`, next[name]))
    else errors.push(...checkUnchanged(next[name], old[name], `${path}.${name}`))
  }
  return errors
}

const maxManagerBytes = 128
const maxSubresourceBytes = 256

function validateManagedFields(entries: readonly ManagedFieldsEntry[] | undefined, field: string): readonly FieldError[] {
  if (entries === undefined) return noErrors
  const errors: FieldError[] = []
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i]
    if (entry !== undefined && !isAsWritten(entry)) errors.push(...validateEntry(entry, `${field}[${i}]`))
  }
  return errors
}

const printableManager = /^[\x20-\x7e]{0,128}$/

/** Fast path: entries as the server writes them, without building a path. */
const isAsWritten = (entry: ManagedFieldsEntry): boolean =>
  (entry.operation === 'Update' || entry.operation === 'Apply') &&
  entry.fieldsType === 'FieldsV1' &&
  printableManager.test(entry.manager ?? '') &&
  (entry.subresource ?? '').length <= maxSubresourceBytes / 3

function validateEntry(entry: ManagedFieldsEntry, field: string): readonly FieldError[] {
  const { operation = '', fieldsType = '', manager = '', subresource = '' } = entry
  const errors: FieldError[] = []
  if (operation !== 'Apply' && operation !== 'Update') {
    errors.push(invalid(`${field}.operation`, operation, 'must be `Apply` or `Update`'))
  }
  if (fieldsType !== '' && fieldsType !== 'FieldsV1') errors.push(invalid(`${field}.fieldsType`, fieldsType, 'must be `FieldsV1`'))
  errors.push(...validateFieldManager(manager, `${field}.manager`))
  if (byteLength(subresource) > maxSubresourceBytes) errors.push(tooLong(`${field}.subresource`, maxSubresourceBytes))
  return errors
}

/** The empty text is valid: the request names no manager. */
export function validateFieldManager(manager: string, field: string): readonly FieldError[] {
  const errors: FieldError[] = []
  if (byteLength(manager) > maxManagerBytes) errors.push(tooLong(field, maxManagerBytes))
  if (isPrintable(manager)) return errors
  // Formats the name once: it takes 0.1 ms, and each character may be an error.
  const nameError = invalid(field, manager)
  let position = 0
  for (const character of manager) {
    if (!isPrintable(character)) {
      const isReported = errors.length < maxErrors
      errors.push(isReported ? { ...nameError, message: `${nameError.message}: ${unprintableProblem(character, position)}` } : nameError)
    }
    position += byteLength(character)
  }
  return errors
}

function unprintableProblem(character: string, position: number): string {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  return `invalid character U+${code} (at position ${position})`
}

/** Drops duplicate owner references and warns. `isPatched`: mutating admission has run, for which the message differs. */
export function withDistinctOwners(object: ApiObject, warn: (text: string) => void, isPatched = false): ApiObject {
  const owners = object.metadata?.ownerReferences
  if (owners === undefined || owners.length < 2) return object
  const byUid = new Map<string | undefined, OwnerReference[]>()
  const repeated: string[] = []
  const distinct = owners.filter((owner) => {
    const withSameUid = byUid.get(owner.uid) ?? []
    byUid.set(owner.uid, withSameUid)
    if (withSameUid.some((other) => sameValue(other, owner))) {
      repeated.push(owner.uid ?? '')
      return false
    }
    withSameUid.push(owner)
    return true
  })
  if (repeated.length === 0) return object
  const suffix = isPatched ? ' after mutating admission happens' : ''
  warn(`.metadata.ownerReferences contains duplicate entries${suffix}; ${advice}; duplicate UID(s) observed: ${repeated.join(', ')}`)
  return withMetadata(object, { ownerReferences: distinct })
}

const advice = 'API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests'

function validateOwnerReferences(owners: readonly OwnerReference[] | undefined, field: string): readonly FieldError[] {
  if (owners === undefined) return noErrors
  const errors: FieldError[] = []
  let controller: string | undefined
  for (const owner of owners) {
    errors.push(...validateOwner(owner, field))
    if (owner.controller !== true) continue
    const name = `${owner.kind ?? ''}/${owner.name ?? ''}`
    if (controller === undefined) controller = name
    else {
      const conflict = `Found "true" in references for ${controller} and ${name}`
      errors.push(invalid(field, owners, `Only one reference can have Controller set to true. ${conflict}`))
    }
  }
  return errors
}

function validateOwner(owner: OwnerReference, field: string): readonly FieldError[] {
  const { apiVersion = '', kind = '', name = '', uid = '' } = owner
  const errors: FieldError[] = []
  if (!groupVersion.test(apiVersion)) errors.push(invalid(`${field}.apiVersion`, apiVersion, 'version must not be empty'))
  if (kind === '') errors.push(invalid(`${field}.kind`, kind, 'kind must not be empty'))
  if (name === '') errors.push(invalid(`${field}.name`, name, 'name must not be empty'))
  if (uid === '') errors.push(invalid(`${field}.uid`, uid, 'uid must not be empty'))
  // Events expire, and the garbage collector would then delete their dependents.
  if (apiVersion === 'v1' && kind === 'Event') errors.push(invalid(field, owner, '/v1, Kind=Event is disallowed from being an owner'))
  return errors
}

const groupVersion = /^(?:[^/]*\/)?[^/]+$/
