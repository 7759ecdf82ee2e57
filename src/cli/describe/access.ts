// Who may do what: roles, what binds them to whom, and service accounts.

import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding, Secret, ServiceAccount } from '../../client/typed/types.js'
import { labelEntries } from './common.js'
import type { DescribeContext } from './context.js'
import { block, type Entry, grid, listOrNone } from './entry.js'

const bracketed = (texts: readonly string[] = []): string => `[${texts.join(' ')}]`

export const describeRole = (object: Role): readonly Entry[] => [...labelEntries(object), rulesEntry(object.rules)]

export const describeClusterRole = (object: ClusterRole): readonly Entry[] => [...labelEntries(object), rulesEntry(object.rules)]

type Rule = NonNullable<Role['rules']>[number]

/** One line for each resource and each path. */
const rulesEntry = (rules: readonly Rule[] | undefined): Entry => [
  'PolicyRule',
  grid(['Resources', 'Non-Resource URLs', 'Resource Names', 'Verbs'], (rules ?? []).flatMap(ruleRows)),
]

function ruleRows({
  apiGroups = [],
  resources = [],
  nonResourceURLs = [],
  resourceNames = [],
  verbs = [],
}: Rule): readonly (readonly string[])[] {
  const named = apiGroups.flatMap((group) => resources.map((resource) => (group === '' ? resource : `${resource}.${group}`)))
  return [
    ...named.map((resource) => [resource, '[]', bracketed(resourceNames), bracketed(verbs)]),
    ...nonResourceURLs.map((path) => ['', bracketed([path]), '[]', bracketed(verbs)]),
  ]
}

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
  const all = await context.list<Secret>('secrets', metadata?.namespace, {
    fieldSelector: `type=${await context.label('service-account-token')}`,
  })
  const tokens = all?.filter((secret) => Object.values(secret.metadata?.annotations ?? {}).includes(metadata?.uid ?? ''))
  return [
    ...labelEntries(object),
    ['Image pull secrets', listOrNone(imagePullSecrets.map(({ name }) => name ?? ''))],
    ['Mountable secrets', listOrNone(secrets.map(({ name }) => name ?? ''))],
    ['Tokens', tokens === undefined ? undefined : listOrNone(tokens.map((secret) => secret.metadata?.name ?? ''))],
  ]
}
