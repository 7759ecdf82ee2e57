// Who may do what: roles, what binds them to whom, and service accounts.

import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding, Secret, ServiceAccount } from '../../client/typed/types.js'
import { type AccessRule, ruleHeaders, ruleRows } from '../rule-rows.js'
import { labelEntries } from './common.js'
import type { DescribeContext } from './context.js'
import { block, type Entry, grid, listOrNone } from './entry.js'

export const describeRole = (object: Role): readonly Entry[] => [...labelEntries(object), rulesEntry(object.rules)]

export const describeClusterRole = (object: ClusterRole): readonly Entry[] => [...labelEntries(object), rulesEntry(object.rules)]

const rulesEntry = (rules: readonly AccessRule[] = []): Entry => ['PolicyRule', grid(ruleHeaders, ruleRows(rules))]

export const describeBinding = (object: RoleBinding | ClusterRoleBinding): readonly Entry[] => [
  ...labelEntries(object),
  [
    'Role',
    block([
      ['Kind', object.roleRef?.kind ?? ''],
      ['Name', object.roleRef?.name ?? ''],
    ]),
  ],
  [
    'Subjects',
    grid(
      ['Kind', 'Name', 'Namespace'],
      (object.subjects ?? []).map(({ kind = '', name = '', namespace = '' }) => [kind, name, namespace]),
    ),
  ],
]

export async function describeServiceAccount(object: ServiceAccount, context: DescribeContext): Promise<readonly Entry[]> {
  const { metadata, secrets = [], imagePullSecrets = [] } = object
  const all = await context.list<Secret>('secrets', metadata?.namespace)
  const type = await context.label('service-account-token')
  const known = new Set(all?.map((secret) => secret.metadata?.name))
  const told = (name: string): string => (all === undefined || known.has(name) ? name : `${name} (not found)`)
  const tokens = all?.filter(
    (secret) => secret.type === type && Object.values(secret.metadata?.annotations ?? {}).includes(metadata?.uid ?? ''),
  )
  return [
    ...labelEntries(object),
    ['Image pull secrets', listOrNone(imagePullSecrets.map(({ name = '' }) => told(name)))],
    ['Mountable secrets', listOrNone(secrets.map(({ name = '' }) => told(name)))],
    ['Tokens', tokens === undefined ? undefined : listOrNone(tokens.map((secret) => secret.metadata?.name ?? ''))],
  ]
}
