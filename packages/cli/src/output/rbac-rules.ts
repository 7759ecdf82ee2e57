// Table rows of RBAC rules in the order of kubectl: one row per resource with its names, and one per path.

import { compareText } from '@cluster-apiserver/api/base/text-order.js'

export interface AccessRule {
  readonly verbs?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

export const ruleHeaders = ['Resources', 'Non-Resource URLs', 'Resource Names', 'Verbs'] as const

interface SingleRule {
  readonly group: string
  readonly resource: string
  readonly names: readonly string[]
  readonly path: string
  readonly verbs: string[]
}

const bracketed = (texts: readonly string[] = []): string => `[${texts.join(' ')}]`

export function ruleRows(rules: readonly AccessRule[]): readonly (readonly string[])[] {
  const singleRules = [...mergeVerbs(rules.flatMap(singleRulesOf))]
  return singleRules
    .map((rule) => ({ rule, key: keyOf(rule) }))
    .sort((a, b) => compareText(a.key, b.key))
    .map(({ rule: { group, resource, names, path, verbs } }) => [
      group === '' ? resource : resource.replace(/^[^/]*/, (name) => `${name}.${group}`),
      bracketed(path === '' ? [] : [path]),
      bracketed(names),
      bracketed(verbs),
    ])
}

function singleRulesOf({
  verbs = [],
  apiGroups = [],
  resources = [],
  resourceNames = [],
  nonResourceURLs = [],
}: AccessRule): readonly SingleRule[] {
  const ruleWith = (part: Partial<SingleRule>): SingleRule => ({ group: '', resource: '', names: [], path: '', verbs: [...verbs], ...part })
  return [
    ...apiGroups.flatMap((group) => resources.map((resource) => ruleWith({ group, resource, names: resourceNames }))),
    ...nonResourceURLs.map((path) => ruleWith({ path })),
  ]
}

function mergeVerbs(singleRules: readonly SingleRule[]): Iterable<SingleRule> {
  const byResource = new Map<string, SingleRule>()
  for (const [i, rule] of singleRules.entries()) {
    const key = rule.path === '' ? JSON.stringify([rule.group, rule.resource, rule.names]) : `path ${i}`
    const existing = byResource.get(key)
    if (existing === undefined) byResource.set(key, rule)
    else existing.verbs.push(...rule.verbs.filter((verb) => !existing.verbs.includes(verb)))
  }
  return byResource.values()
}

const keyOf = ({ group, resource, names, path, verbs }: SingleRule): string =>
  `${bracketed(verbs)},${bracketed(group === '' ? [] : [group])},${bracketed(resource === '' ? [] : [resource])},${bracketed(names)},${bracketed(path === '' ? [] : [path])}`
