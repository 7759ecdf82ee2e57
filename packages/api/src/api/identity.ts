// Identity: the names (API group suffix, label domain, prefixes) that a server uses. There are two: `cluster` and `kubernetes`.

export interface Identity {
  readonly name: IdentityName
  /** Full name of an API group: adds the suffix to `{ stem: 'rbac.authorization' }`, returns strings unchanged. */
  group(group: GroupName): string
  /** Domain of API groups, and of a few labels: `k8s.io/component`. */
  readonly groupSuffix: string
  /** Key of a system label, annotation, finalizer or secret type: `label('metadata.name')`, `label('pods', 'node')`. */
  label(name: string, subdomain?: string): string
  /** Name with the short prefix: `prefixed('system')` is the system namespace. */
  prefixed(name: string): string
  /** Name of the API's own Service and of the namespace finalizer. */
  readonly self: string
  readonly protobufMediaType: string
  /** Translates a group of the other identity; undefined for all other groups. */
  translate(group: string): { readonly group: string; readonly from: IdentityName } | undefined
}

export type IdentityName = 'cluster' | 'kubernetes'

/** A group with the suffix of the identity (`{ stem: 'rbac.authorization' }`) or without one (`apps`; the core group is empty). */
export type GroupName = string | { readonly stem: string }

const vocabularies = {
  cluster: { groupSuffix: 'cluster.io', domain: 'cluster.io', short: 'cluster', self: 'cluster' },
  kubernetes: { groupSuffix: 'k8s.io', domain: 'kubernetes.io', short: 'kube', self: 'kubernetes' },
} as const

export const identityNames = Object.keys(vocabularies) as readonly IdentityName[]

export function identityOf(name: IdentityName): Identity {
  const vocabulary = vocabularies[name]
  return {
    name,
    group: (group) => (typeof group === 'string' ? group : `${group.stem}.${vocabulary.groupSuffix}`),
    groupSuffix: vocabulary.groupSuffix,
    label: (label, subdomain) => `${subdomain === undefined ? '' : `${subdomain}.`}${vocabulary.domain}/${label}`,
    prefixed: (rest) => `${vocabulary.short}-${rest}`,
    self: vocabulary.self,
    protobufMediaType: `application/vnd.${vocabulary.self}.protobuf`,
    translate: (group) => {
      const from = identityNames.find((other) => other !== name && group.endsWith(`.${vocabularies[other].groupSuffix}`))
      if (from === undefined) return undefined
      return { group: `${group.slice(0, -vocabularies[from].groupSuffix.length)}${vocabulary.groupSuffix}`, from }
    },
  }
}
