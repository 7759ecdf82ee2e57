// The shorthand in which the tables of roles are written, and the objects that it stands for.

import type { Identity } from '../../api/identity.js'
import type { PolicyRule } from '../../resources/rbac-authorization/v1.schema.js'
import { spellAll } from './words.js'

/** A rule in words that are separated by spaces; the core group is called `core`. */
export interface RuleTemplate {
  readonly verbs: string
  readonly groups?: string
  readonly resources?: string
  readonly names?: string
  readonly paths?: string
  /** The feature without which the rule is not there. */
  readonly gate?: string
}

export interface RoleTemplate {
  readonly name: string
  readonly namespace?: string
  readonly rules?: readonly RuleTemplate[]
  /** The feature without which the role is not there, nor who has it. */
  readonly gate?: string
  /** Which collecting role takes its rules: `admin`, `edit`, `view`. */
  readonly partOf?: string
  /** Has no rules of its own, but those of all roles that are part of this. */
  readonly collects?: string
}

export const reading = 'get list watch'
export const writing = 'create delete deletecollection patch update'

/** May do this to resources, or only to those with these names. */
export const on = (verbs: string, groups: string, resources: string, names?: string): RuleTemplate => ({
  verbs,
  groups,
  resources,
  ...(names === undefined ? {} : { names }),
})

/** May do this at paths that are no resources. */
export const at = (verbs: string, paths: string): RuleTemplate => ({ verbs, paths })

/** The rules are there with a feature only. */
export const onlyWith = (gate: string, ...rules: readonly RuleTemplate[]): readonly RuleTemplate[] =>
  rules.map((rule) => ({ ...rule, gate }))

export const tellingEvents = on('create patch update', 'core {events}', 'events')

export const ruleOf = (identity: Identity, { verbs, groups, resources, names, paths }: RuleTemplate): PolicyRule => ({
  verbs: verbs.split(' '),
  ...(groups === undefined ? {} : { apiGroups: spellAll(identity, groups) }),
  ...(resources === undefined ? {} : { resources: resources.split(' ') }),
  ...(names === undefined ? {} : { resourceNames: spellAll(identity, names) }),
  ...(paths === undefined ? {} : { nonResourceURLs: paths.split(' ') }),
})
