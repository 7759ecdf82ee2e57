// Lease: holder, duration and renewal of leader election and node heartbeats.

import { defineResource } from '../../api/definition/resource-definition.js'
import { type FieldError, invalid } from '../../api/field-error.js'
import { checkNotNegative, dnsSubdomainProblems } from '../../api/validation/checks.js'
import { ageColumn, nameColumn, tableOf, textColumn } from '../printer-columns.js'
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
  checks: { update: ['metadataChange', 'validate'] },
  anyFinalizer: true,
  createOnUpdate: true,
  versionRequiredOnUpdate: true,
  table: tableOf<Lease>(
    nameColumn,
    textColumn('Holder', 'Holder of the lease.', ({ spec }) => spec?.holderIdentity ?? ''),
    ageColumn,
  ),
})
