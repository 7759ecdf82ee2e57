// The notation of the role tables, and its translation into policy rules of one identity.

import { type Identity, identityOf } from '@cluster-apiserver/api/api/identity.js'
import type { PolicyRule } from '@cluster-apiserver/api/resources/rbac-authorization/v1.schema.js'

/** Each field is a list separated by spaces. The core group is written `core`. */
interface RuleTemplate {
  readonly verbs: string
  readonly groups?: string
  readonly resources?: string
  readonly names?: string
  readonly paths?: string
  readonly gate?: string
}

export interface RoleTemplate {
  readonly name: string
  readonly namespace?: string
  readonly rules?: readonly RuleTemplate[]
  readonly gate?: string
  /** The aggregated role that selects this one: `admin`, `edit` or `view`. */
  readonly aggregateTo?: string
  /** The label value that an aggregated role selects. */
  readonly aggregatesFrom?: string
}

export const readVerbs = 'get list watch'
export const writeVerbs = 'create delete deletecollection patch update'

export const allow = (verbs: string, groups: string, resources: string, names?: string): RuleTemplate => ({
  verbs,
  groups,
  resources,
  ...(names === undefined ? {} : { names }),
})

export const allowPaths = (verbs: string, paths: string): RuleTemplate => ({ verbs, paths })

export const whenGate = (gate: string, ...rules: readonly RuleTemplate[]): readonly RuleTemplate[] =>
  rules.map((rule) => ({ ...rule, gate }))

export const recordEvents = allow('create patch update', 'core {events}', 'events')

export const ruleOf = (identity: Identity, { verbs, groups, resources, names, paths }: RuleTemplate): PolicyRule => ({
  verbs: verbs.split(' '),
  ...(groups === undefined ? {} : { apiGroups: expandNames(identity, groups) }),
  ...(resources === undefined ? {} : { resources: resources.split(' ') }),
  ...(names === undefined ? {} : { resourceNames: expandNames(identity, names) }),
  ...(paths === undefined ? {} : { nonResourceURLs: paths.split(' ') }),
})

const kubernetes = identityOf('kubernetes')

/**
 * Placeholders: `%-` is the identity's prefix of names, `{group}` an API group, a leading `./` the domain of labels, and `!-` the prefix of
 * the `kubernetes` identity under either identity.
 */
export const expandName = (identity: Identity, text: string): string =>
  text
    .replace(/^\.\//, identity.label(''))
    .replace(/\{([a-z.]+)\}/g, (_, stem: string) => identity.group({ stem }))
    .replace('%-', identity.prefixed(''))
    .replace('!-', kubernetes.prefixed(''))

export const expandNames = (identity: Identity, text: string): readonly string[] =>
  text.split(' ').map((name) => (name === 'core' ? '' : expandName(identity, name)))
