// Service accounts: the identities of programs, with the secrets that pods running as one may use.

import { defineResource } from '../../api/definition.js'
import { ageOf } from '../../api/human-duration.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { tokenSubresource } from '../authentication/token-request.js'
import { type ObjectReference, type ServiceAccount, serviceAccount as schema } from './v1.schema.js'

const nameOnly = ({ name }: ObjectReference): ObjectReference => (name === undefined ? {} : { name })

/** Secrets lie in the account's own namespace: of a reference to one, only the name means anything. */
const cleaned = (account: ServiceAccount): ServiceAccount =>
  account.secrets === undefined ? account : { ...account, secrets: account.secrets.map(nameOnly) }

export const serviceAccount = defineResource<ServiceAccount>({
  group: '',
  kind: 'ServiceAccount',
  resource: 'serviceaccounts',
  shortNames: ['sa'],
  namespaced: true,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  prepareCreate: cleaned,
  prepareUpdate: cleaned,
  checks: { update: ['metadataChange', 'metadata'] },
  deleteReturnsObject: true,
  subresources: [tokenSubresource],
  table: {
    columns: [nameColumn, textColumn('Secrets', 'How many secrets the account names.'), ageColumn],
    cells: ({ metadata, secrets }, { now }) => [metadata?.name ?? '', secrets?.length ?? 0, ageOf(metadata?.creationTimestamp, now)],
  },
})
