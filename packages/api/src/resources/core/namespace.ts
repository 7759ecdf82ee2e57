// Namespace: metadata.name label, spec finalizers that block deletion, phases.

import { defineResource, type RuleContext } from '../../api/definition/resource-definition.js'
import { type FieldError, invalid } from '../../api/field-error.js'
import type { Identity } from '../../api/identity.js'
import { withMetadata } from '../../api/object.js'
import { checkText, dnsLabelProblems } from '../../api/validation/checks.js'
import { checkFinalizerDomain, standardFinalizers } from '../../api/validation/metadata/finalizers.js'
import { qualifiedName } from '../../api/validation/name-formats.js'
import { ageColumn, nameColumn, tableOf, textColumn } from '../printer-columns.js'
import { statusSubresource, withOldStatus } from '../status-subresource.js'
import { type Namespace, namespace as schema } from './v1.schema.js'

/** Adds the metadata.name label, by which namespaceSelectors can select one namespace. */
function withNameLabel(namespace: Namespace, identity: Identity): Namespace {
  const name = namespace.metadata?.name ?? ''
  const label = identity.label('metadata.name')
  if (name === '' || namespace.metadata?.labels?.[label] === name) return namespace
  return withMetadata(namespace, { labels: { ...namespace.metadata?.labels, [label]: name } })
}

const defaults = (namespace: Namespace, { identity }: RuleContext): Namespace => {
  const labeled = withNameLabel(namespace, identity)
  return (labeled.status?.phase ?? '') === '' ? { ...labeled, status: { ...labeled.status, phase: 'Active' } } : labeled
}

function prepareCreate(namespace: Namespace, { identity }: RuleContext): Namespace {
  const finalizers = namespace.spec?.finalizers ?? []
  const kept = finalizers.includes(identity.self) ? finalizers : [...finalizers, identity.self]
  return { ...withNameLabel(namespace, identity), spec: { ...namespace.spec, finalizers: kept }, status: { phase: 'Active' } }
}

const prepareUpdate = (next: Namespace, old: Namespace): Namespace => ({ ...next, spec: old.spec ?? {}, status: old.status ?? {} })

function validateSpecFinalizers(namespace: Namespace, { identity }: RuleContext, fieldOf: (index: number) => string): FieldError[] {
  const standard = standardFinalizers(identity)
  return (namespace.spec?.finalizers ?? []).flatMap((finalizer, i) => [
    ...checkText(finalizer, fieldOf(i), qualifiedName),
    ...checkFinalizerDomain(finalizer, fieldOf(i), standard),
  ])
}

function validateStatus(next: Namespace): readonly FieldError[] {
  const phase = next.status?.phase ?? ''
  const isTerminating = next.metadata?.deletionTimestamp !== undefined
  if (phase === (isTerminating ? 'Terminating' : 'Active')) return []
  const allowed = isTerminating
    ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
    : "may only be 'Active' if `deletionTimestamp` is empty"
  return [invalid('status.Phase', phase, allowed)]
}

export const namespace = defineResource<Namespace>({
  group: '',
  kind: 'Namespace',
  resource: 'namespaces',
  shortNames: ['ns'],
  namespaced: false,
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  versions: [{ name: 'v1', schema, stored: true }],
  containsObjects: true,
  nameProblems: dnsLabelProblems,
  defaults,
  prepareCreate,
  prepareUpdate,
  validate: (object, context) => validateSpecFinalizers(object, context, () => 'spec.finalizers'),
  checks: { update: ['metadata', 'validate', 'metadataChange'] },
  firstDeleteMarks: true,
  isDeletionBlocked: (object) => (object.spec?.finalizers ?? []).length > 0,
  prepareDelete: (object) => ({ ...object, status: { ...object.status, phase: 'Terminating' } }),
  deleteReturnsObject: true,
  resetFields: ['status'],
  selectableFields: { 'status.phase': (object) => object.status?.phase ?? '' },
  subresources: [
    {
      name: 'finalize',
      hasNoTable: true,
      verbs: ['update'],
      prepareUpdate: withOldStatus,
      validateUpdate: (next, _old, context) => validateSpecFinalizers(next, context, (i) => `spec.finalizers[${i}]`),
      resetFields: ['status'],
    },
    statusSubresource<Namespace>({ validateUpdate: validateStatus }),
  ],
  table: tableOf<Namespace>(
    nameColumn,
    textColumn('Status', 'Phase of the namespace.', ({ status }) => status?.phase ?? ''),
    ageColumn,
  ),
})
