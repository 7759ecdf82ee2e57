// Leases: who holds a role, and until when unless it renews.

import { defineResource } from '../../api/definition.js'
import { type FieldError, invalid } from '../../api/field-error.js'
import { ageOf } from '../../api/human-duration.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { checkNotNegative } from '../../api/validation/fields.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { type Lease, lease as schema } from './v1.schema.js'

function validate({ spec: { leaseDurationSeconds, leaseTransitions } = {} }: Lease): readonly FieldError[] {
  const errors: FieldError[] = []
  if (leaseDurationSeconds !== undefined && leaseDurationSeconds <= 0) {
    errors.push(invalid('spec.leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0'))
  }
  return [...errors, ...checkNotNegative(leaseTransitions ?? 0, 'spec.leaseTransitions')]
}

export const lease = defineResource<Lease>({
  group: { stem: 'coordination' },
  kind: 'Lease',
  resource: 'leases',
  namespaced: true,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  validate,
  checks: { update: ['metadataChange', 'own'] },
  anyFinalizer: true,
  createOnUpdate: true,
  versionRequiredOnUpdate: true,
  table: {
    columns: [nameColumn, textColumn('Holder', 'Who holds the lease.'), ageColumn],
    cells: ({ metadata, spec }, { now }) => [metadata?.name ?? '', spec?.holderIdentity ?? '', ageOf(metadata?.creationTimestamp, now)],
  },
})
