// ServiceAccount: references in `secrets` keep only the name; token subresource, printer columns.

import { defineResource } from '../../api/definition/resource-definition.js'
import { dnsSubdomainProblems } from '../../api/validation/checks.js'
import { tokenSubresource } from '../authentication/token-review.js'
import { ageColumn, nameColumn, tableOf, textColumn } from '../printer-columns.js'
import { type ObjectReference, type ServiceAccount, serviceAccount as schema } from './v1.schema.js'

const nameOnly = ({ name }: ObjectReference): ObjectReference => (name === undefined ? {} : { name })

const withSecretNamesOnly = (account: ServiceAccount): ServiceAccount =>
  account.secrets === undefined ? account : { ...account, secrets: account.secrets.map(nameOnly) }

export const serviceAccount = defineResource<ServiceAccount>({
  group: '',
  kind: 'ServiceAccount',
  resource: 'serviceaccounts',
  shortNames: ['sa'],
  namespaced: true,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  prepareCreate: withSecretNamesOnly,
  prepareUpdate: withSecretNamesOnly,
  checks: { update: ['metadataChange', 'metadata'] },
  deleteReturnsObject: true,
  subresources: [tokenSubresource],
  table: tableOf<ServiceAccount>(
    nameColumn,
    textColumn('Secrets', 'Number of secrets of the account.', ({ secrets }) => secrets?.length ?? 0),
    ageColumn,
  ),
})
