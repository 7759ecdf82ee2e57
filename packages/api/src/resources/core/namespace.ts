// Namespaces: the rooms in which namespaced objects live. Finalizers of the spec keep one until its content is gone.

import { defineResource, type RuleContext } from '../../api/definition.js'
import { type FieldError, invalid } from '../../api/field-error.js'
import { ageOf } from '../../api/human-duration.js'
import type { Identity } from '../../api/identity.js'
import { withMetadata } from '../../api/object.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { checkText } from '../../api/validation/fields.js'
import { checkFinalizerDomain, standardFinalizers } from '../../api/validation/finalizers.js'
import { dnsLabelProblems } from '../../api/validation/name-problems.js'
import { qualifiedName } from '../../api/validation/text-rules.js'
import { type Namespace, namespace as schema } from './v1.schema.js'

/** Every namespace carries its own name as a label, so that selectors of namespaces can name one. */
function labelled(namespace: Namespace, identity: Identity): Namespace {
  const name = namespace.metadata?.name ?? ''
  const label = identity.label('metadata.name')
  if (name === '' || namespace.metadata?.labels?.[label] === name) return namespace
  return withMetadata(namespace, { labels: { ...namespace.metadata?.labels, [label]: name } })
}

const defaults = (namespace: Namespace, { identity }: RuleContext): Namespace => {
  const named = labelled(namespace, identity)
  return (named.status?.phase ?? '') === '' ? { ...named, status: { ...named.status, phase: 'Active' } } : named
}

function prepareCreate(namespace: Namespace, { identity }: RuleContext): Namespace {
  const finalizers = namespace.spec?.finalizers ?? []
  const kept = finalizers.includes(identity.self) ? finalizers : [...finalizers, identity.self]
  return { ...labelled(namespace, identity), spec: { ...namespace.spec, finalizers: kept }, status: { phase: 'Active' } }
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
  holdsOthers: true,
  nameProblems: dnsLabelProblems,
  defaults,
  prepareCreate,
  prepareUpdate,
  validate: (object, context) => validateSpecFinalizers(object, context, () => 'spec.finalizers'),
  checks: { update: ['metadata', 'own', 'metadataChange'] },
  firstDeleteMarks: true,
  isHeld: (object) => (object.spec?.finalizers ?? []).length > 0,
  // The time of grace is a matter of other kinds: a namespace goes when it is empty.
  prepareDelete: (object) =>
    withMetadata({ ...object, status: { ...object.status, phase: 'Terminating' } }, { deletionGracePeriodSeconds: undefined }),
  deleteReturnsObject: true,
  resetFields: ['status'],
  selectableFields: { 'status.phase': (object) => object.status?.phase ?? '' },
  subresources: [
    {
      name: 'finalize',
      hasNoTable: true,
      verbs: ['update'],
      prepareUpdate: (next, old) => ({ ...next, status: old.status ?? {} }),
      validateUpdate: (next, _old, context) => validateSpecFinalizers(next, context, (i) => `spec.finalizers[${i}]`),
      resetFields: ['status'],
    },
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      prepareUpdate: (next, old) => ({ ...next, spec: old.spec ?? {} }),
      validateUpdate: validateStatus,
      resetFields: ['spec'],
    },
  ],
  table: {
    columns: [nameColumn, textColumn('Status', 'Phase of the life of the namespace.'), ageColumn],
    cells: ({ metadata, status }, { now }) => [metadata?.name ?? '', status?.phase ?? '', ageOf(metadata?.creationTimestamp, now)],
  },
})
