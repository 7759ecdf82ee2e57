// The two vocabularies of one server: every name that carries the brand comes from this value, and from nowhere else.

export interface Identity {
  readonly name: IdentityName
  /** The full name of an API group: `rbac.authorization` and its suffix; groups without a suffix are passed as they are. */
  group(group: GroupName): string
  /** The domain of groups, in which a few labels are, too: `k8s.io/component`. */
  readonly groupSuffix: string
  /** A label, annotation, finalizer or secret type of the system: `label('metadata.name')`, `label('pods', 'node')`. */
  label(name: string, subdomain?: string): string
  /** Names that begin with the brand's short form: `prefixed('system')` is the system namespace. */
  prefixed(name: string): string
  /** The word for the system itself: the API's own service, the finalizer of namespaces. */
  readonly self: string
  readonly protobufMediaType: string
  /** What a group of the other vocabulary is called in this one; undefined for all other groups. */
  translate(group: string): { readonly group: string; readonly from: IdentityName } | undefined
}

export type IdentityName = 'cluster' | 'kubernetes'

/** A group with the identity's suffix (`{ stem: 'rbac.authorization' }`) or one without (`apps`; the core group is empty). */
export type GroupName = string | { readonly stem: string }

const vocabularies = {
  cluster: { groupSuffix: 'cluster.io', domain: 'cluster.io', short: 'cluster', self: 'cluster' },
  kubernetes: { groupSuffix: 'k8s.io', domain: 'kubernetes.io', short: 'kube', self: 'kubernetes' },
} as const

export const identityNames = Object.keys(vocabularies) as readonly IdentityName[]

export function identityOf(name: IdentityName): Identity {
  const words = vocabularies[name]
  return {
    name,
    group: (group) => (typeof group === 'string' ? group : `${group.stem}.${words.groupSuffix}`),
    groupSuffix: words.groupSuffix,
    label: (label, subdomain) => `${subdomain === undefined ? '' : `${subdomain}.`}${words.domain}/${label}`,
    prefixed: (rest) => `${words.short}-${rest}`,
    self: words.self,
    protobufMediaType: `application/vnd.${words.self}.protobuf`,
    translate: (group) => {
      const from = identityNames.find((other) => other !== name && group.endsWith(`.${vocabularies[other].groupSuffix}`))
      if (from === undefined) return undefined
      return { group: `${group.slice(0, -vocabularies[from].groupSuffix.length)}${words.groupSuffix}`, from }
    },
  }
}
